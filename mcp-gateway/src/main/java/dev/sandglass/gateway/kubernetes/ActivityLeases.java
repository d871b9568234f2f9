package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.TimeLimit;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The activity leases, by which the operator knows that a sandbox is used (docs/architecture.md). Written in the
 * background, and only when the one that stands no longer covers the use. Right after a start, from which the operator counts
 * anyway, the lease waits a moment: it is not to compete with the start and the first run.
 */
final class ActivityLeases {

    private static final String HOLDER = "mcp-gateway";
    private static final int ATTEMPTS = 3;
    private static final Duration AFTER_START = Duration.ofSeconds(2);

    private final KubernetesClient client;
    private final ApiCalls calls;
    private final Duration idleTimeout;
    private final Clock clock;
    private final Map<String, Activity> recorded = new ConcurrentHashMap<>();

    /** What is still to be written, all uses of a sandbox in one; whoever makes the first entry writes till none is left. */
    private final Map<String, Activity> unwritten = new HashMap<>();

    ActivityLeases(KubernetesClient client, ApiCalls calls, Duration idleTimeout, Clock clock) {
        this.client = client;
        this.calls = calls;
        this.idleTimeout = idleTimeout;
        this.clock = clock;
    }

    /**
     * Whose activity: all that is needed to name and own the lease.
     *
     * @param ownIdleTimeout empty if the installation's holds
     * @param startedAt when its present pod started or was claimed, from which on the operator counts the idle time; empty if
     *     that is not known
     */
    record Subject(
            String namespace, String name, String uid, Optional<Duration> ownIdleTimeout, Optional<Instant> startedAt) {

        static Subject of(Sandbox sandbox) {
            return new Subject(
                    sandbox.getMetadata().getNamespace(),
                    sandbox.getMetadata().getName(),
                    sandbox.getMetadata().getUid(),
                    TimeLimit.IDLE_TIMEOUT.in(sandbox.wanted()),
                    Optional.ofNullable(sandbox.observed().startedAt()).map(Instant::parse));
        }

        private Optional<Activity> start() {
            return startedAt.map(start -> new Activity(start, start));
        }
    }

    /** Notes a use; returns at once. */
    void note(Subject subject, Duration busyFor) {
        Activity use = Activity.now(clock.instant(), busyFor);
        Activity known = recorded.get(subject.uid());
        if (known != null && known.covers(use, idleTimeout(subject))) {
            return;
        }
        if (isFirst(subject.uid(), use)) {
            calls.later(delay(subject, use), () -> writeAll(subject), () -> giveUp(subject.uid()));
        }
    }

    /** How long the lease of that use may wait. */
    Duration delay(Subject subject, Activity use) {
        return subject.start()
                .filter(start -> start.covers(use, idleTimeout(subject)))
                .filter(start -> use.renewed().isBefore(start.renewed().plus(AFTER_START)))
                .map(start -> AFTER_START)
                .orElse(Duration.ZERO);
    }

    private synchronized boolean isFirst(String uid, Activity use) {
        Activity waiting = unwritten.get(uid);
        unwritten.put(uid, waiting == null ? use : waiting.extendedBy(use));
        return waiting == null;
    }

    /** Writes until nothing is left, be it only since the last write began. */
    private void writeAll(Subject subject) {
        for (Optional<Activity> use = waiting(subject.uid()); use.isPresent(); use = waiting(subject.uid())) {
            write(subject, use.get(), false);
            isWritten(subject.uid(), use.get());
        }
    }

    private synchronized Optional<Activity> waiting(String uid) {
        return Optional.ofNullable(unwritten.get(uid));
    }

    private synchronized void isWritten(String uid, Activity use) {
        unwritten.remove(uid, use);
    }

    private synchronized void giveUp(String uid) {
        unwritten.remove(uid);
    }

    /** Wakes a sleeping sandbox: renews at once, whatever the lease says, and returns when it is done. */
    void wake(Sandbox sleeper) {
        Instant now = clock.instant();
        Instant sleep = Optional.ofNullable(sleeper.observed().suspendedAt())
                .map(Instant::parse)
                .orElse(Instant.MIN);
        write(Subject.of(sleeper), Activity.ending(sleep, now), true);
    }

    /** Whether a use that was announced for the sandbox may go on. Blocks. */
    boolean mayBeBusy(Subject subject) {
        return known(subject).anyMatch(known -> known.mayGoOn(clock.instant(), idleTimeout(subject)));
    }

    /** How long it has been idle at least; zero or less if it may be in use, empty if nothing is known. Blocks. */
    Optional<Duration> idleFor(Subject subject) {
        return known(subject)
                .map(known -> known.idleFor(clock.instant(), idleTimeout(subject)))
                .min(Comparator.naturalOrder());
    }

    private Stream<Activity> known(Subject subject) {
        Optional<Activity> written = Optional.ofNullable(place(subject).get()).flatMap(ActivityLeases::activityOf);
        return Stream.of(written, subject.start()).flatMap(Optional::stream);
    }

    private Resource<Lease> place(Subject subject) {
        return client.leases().inNamespace(subject.namespace()).withName(SandboxLabels.leaseName(subject.uid()));
    }

    /** Forgets a sandbox that was deleted; its lease goes with it. */
    void forget(String uid) {
        recorded.remove(uid);
    }

    private Duration idleTimeout(Subject subject) {
        return subject.ownIdleTimeout().orElse(idleTimeout);
    }

    private void write(Subject subject, Activity use, boolean always) {
        for (int attempt = 1; ; attempt++) {
            try {
                recorded.put(subject.uid(), written(subject, use, always));
                return;
            } catch (KubernetesClientException problem) {
                boolean overtaken = problem.getCode() == HttpURLConnection.HTTP_CONFLICT;
                if (!overtaken || attempt == ATTEMPTS) {
                    throw problem;
                }
            }
        }
    }

    /** One attempt: another replica may have written in between, which the API server then tells as a conflict. */
    private Activity written(Subject subject, Activity use, boolean always) {
        Lease present = place(subject).get();
        if (present == null) {
            client.resource(lease(subject, use)).create();
            return use;
        }
        Optional<Activity> before = activityOf(present);
        if (!always
                && before.filter(known -> known.covers(use, idleTimeout(subject)))
                        .isPresent()) {
            return before.get();
        }
        Activity after = before.map(known -> known.extendedBy(use)).orElse(use);
        Lease changed = new LeaseBuilder(present).withSpec(spec(after)).build();
        client.resource(changed).update();
        return after;
    }

    private static Optional<Activity> activityOf(Lease lease) {
        LeaseSpec spec = lease.getSpec();
        if (spec == null || spec.getRenewTime() == null || spec.getLeaseDurationSeconds() == null) {
            return Optional.empty();
        }
        Instant renewed = spec.getRenewTime().toInstant();
        return Optional.of(new Activity(renewed, renewed.plusSeconds(spec.getLeaseDurationSeconds())));
    }

    private static Lease lease(Subject subject, Activity activity) {
        return new LeaseBuilder()
                .withNewMetadata()
                .withName(SandboxLabels.leaseName(subject.uid()))
                .withNamespace(subject.namespace())
                .addToLabels(SandboxLabels.SANDBOX, subject.name())
                .withOwnerReferences(new OwnerReferenceBuilder()
                        .withApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION)
                        .withKind("Sandbox")
                        .withName(subject.name())
                        .withUid(subject.uid())
                        .withController(false)
                        .build())
                .endMetadata()
                .withSpec(spec(activity))
                .build();
    }

    private static LeaseSpec spec(Activity activity) {
        var spec = new LeaseSpec();
        spec.setHolderIdentity(HOLDER);
        spec.setRenewTime(activity.renewed().atZone(ZoneOffset.UTC));
        spec.setLeaseDurationSeconds(activity.leaseSeconds());
        return spec;
    }
}
