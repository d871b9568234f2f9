package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Sandbox;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/** Finds the running sandboxes of a tenant that have been idle longest, by their activity leases. */
final class IdleSandboxes {

    /** The gateway may not list leases, so it reads one for each sandbox. */
    private static final int MOST_READ = 32;

    private static final int MOST_NAMED = 3;
    private static final Duration SHORTEST = Duration.ofMinutes(1);
    private static final Duration TIME_LIMIT = Duration.ofSeconds(2);

    private final SandboxCache cache;
    private final SandboxStateReader view;
    private final ApiCalls calls;
    private final ActivityLeases leases;

    IdleSandboxes(SandboxCache cache, SandboxStateReader view, ApiCalls calls, ActivityLeases leases) {
        this.cache = cache;
        this.view = view;
        this.calls = calls;
        this.leases = leases;
    }

    /**
     * Counts the tenant's other running sandboxes and names the idle ones; names none if the API server does not answer in
     * time. Never errors.
     */
    Mono<NextStep> besides(SandboxRef ref) {
        List<Running> running = cache.list(ref.namespace()).stream()
                .filter(resource -> !resource.getMetadata().getName().equals(ref.name()))
                .flatMap(resource -> running(ref.tenant(), resource))
                .toList();
        return calls.plainly(() -> idleIfReadable(running))
                .timeout(TIME_LIMIT)
                .onErrorReturn(List.of())
                .map(idle -> new NextStep.FreeCapacity(ref.tenant(), running.size(), idle));
    }

    private Stream<Running> running(String tenant, Sandbox resource) {
        return view
                .of(tenant, resource)
                .filter(SandboxState::isRunning)
                .map(state -> new Running(state.ref().givenName(), resource))
                .stream();
    }

    /** Fails silently: Reactor logs an error that arrives after the time limit. */
    private List<NextStep.FreeCapacity.Idle> idleIfReadable(List<Running> running) {
        try {
            return idleLongest(running);
        } catch (KubernetesClientException e) {
            return List.of();
        }
    }

    /** Reads the leases of those that started first: the later a sandbox started, the shorter it has been idle. */
    private List<NextStep.FreeCapacity.Idle> idleLongest(List<Running> running) {
        return running.stream()
                .map(sandbox -> new Candidate(sandbox.name(), ActivityLeases.Subject.of(sandbox.resource())))
                .sorted(Comparator.comparing(Candidate::startedAt).thenComparing(Candidate::name))
                .limit(MOST_READ)
                .flatMap(candidate -> idle(candidate).stream())
                .sorted(Comparator.comparing(NextStep.FreeCapacity.Idle::atLeast)
                        .reversed()
                        .thenComparing(NextStep.FreeCapacity.Idle::name))
                .limit(MOST_NAMED)
                .toList();
    }

    private Optional<NextStep.FreeCapacity.Idle> idle(Candidate candidate) {
        return leases.idleFor(candidate.subject())
                .filter(atLeast -> atLeast.compareTo(SHORTEST) >= 0)
                .map(atLeast -> new NextStep.FreeCapacity.Idle(candidate.name(), atLeast));
    }

    /** A running sandbox, by the name that callers know. */
    private record Running(String name, Sandbox resource) {}

    /** One whose lease may be read. */
    private record Candidate(String name, ActivityLeases.Subject subject) {

        private Instant startedAt() {
            return subject.startedAt().orElse(Instant.MIN);
        }
    }
}
