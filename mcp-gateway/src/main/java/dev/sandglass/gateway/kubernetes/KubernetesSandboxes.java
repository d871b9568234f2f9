package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The door of this room: sandboxes as resources, read from the informers' cache, written to the API server. */
public final class KubernetesSandboxes implements Sandboxes, AutoCloseable {

    /** Stands for every namespace of the cluster. */
    public static final String EVERYWHERE = SandboxCache.EVERYWHERE;

    /** The operator and the cache follow within a moment; this only keeps one that is away from blocking a stop. */
    private static final Duration CACHE_LAG = Duration.ofSeconds(2);

    /** How long one that was woken may sleep on before it is woken again. */
    private static final Duration WAKE_AGAIN = Duration.ofSeconds(2);

    private final SandboxView view;
    private final SandboxOrders orders;
    private final SandboxCache cache;
    private final ActivityLeases leases;
    private final ApiCalls calls = new ApiCalls();
    private final Duration troubleGrace;

    /**
     * Does not connect before {@link #start}, so that the process comes up without a cluster.
     *
     * @param client closed by whoever made it
     * @param namespaces of all tenants, or {@link #EVERYWHERE} alone
     * @param defaults what sandboxes without a list may reach
     */
    public KubernetesSandboxes(
            KubernetesClient client,
            List<String> namespaces,
            KubernetesSettings settings,
            DefaultDomains defaults,
            Clock clock) {
        this.view = new SandboxView(defaults);
        this.leases = new ActivityLeases(client, calls, settings.idleTimeout(), clock);
        this.cache = new SandboxCache(
                client, namespaces, gone -> leases.forget(gone.getMetadata().getUid()));
        this.orders = new SandboxOrders(client);
        this.troubleGrace = settings.troubleGrace();
    }

    /** Starts to follow the resources; returns at once. */
    public void start() {
        cache.start();
    }

    /** Whether all sandboxes are known; stays true once it was. */
    public boolean isSynced() {
        return cache.isSynced();
    }

    @Override
    public Optional<SandboxState> find(SandboxRef ref) {
        return cache.get(ref.namespace(), ref.name()).flatMap(resource -> view.of(ref.tenant(), resource));
    }

    @Override
    public Optional<SandboxState> findByUid(String tenant, String namespace, String uid) {
        return cache.getByUid(namespace, uid).flatMap(resource -> view.of(tenant, resource));
    }

    @Override
    public List<SandboxState> list(String tenant, String namespace) {
        return cache.list(namespace).stream()
                .flatMap(resource -> view.of(tenant, resource).stream())
                .toList();
    }

    /** The cache may be a moment behind what another client or replica has seen, so a refusal takes a fresh look. */
    @Override
    public Mono<RunningSandbox> running(SandboxRef ref) {
        Optional<SandboxState> known = find(ref);
        if (known.orElse(null) instanceof SandboxState.Running(RunningSandbox sandbox)) {
            return Mono.just(sandbox);
        }
        if (known.isEmpty() && !cache.isSynced(ref.namespace())) {
            return Mono.error(new SandboxProblem.Unavailable("the sandboxes were not read yet", null));
        }
        return calls.about(ref, () -> orders.read(ref))
                .map(read -> read.flatMap(resource -> view.of(ref.tenant(), resource)))
                .onErrorReturn(SandboxProblem.class, known)
                .flatMap(state -> runningOrWhyNot(ref, state));
    }

    private static Mono<RunningSandbox> runningOrWhyNot(SandboxRef ref, Optional<SandboxState> found) {
        if (found.isEmpty()) {
            return Mono.error(new SandboxProblem.NotFound(ref.givenName(), ref.tenant()));
        }
        return switch (found.get()) {
            case SandboxState.Running(RunningSandbox sandbox) -> Mono.just(sandbox);
            case SandboxState.Asleep asleep -> Mono.error(new SandboxProblem.Asleep(ref, asleep.reason()));
            case SandboxState.Stopped stopped -> Mono.error(SandboxProblem.NotRunning.stopped(ref));
            case SandboxState.Pending pending -> Mono.error(SandboxProblem.NotRunning.starting(ref, why(pending)));
        };
    }

    /** Decided on what the API server has now: the cache may still show it running after another replica stopped it. */
    @Override
    public Mono<RunningSandbox> start(SandboxRef ref, SandboxConfig config, String createdBy) {
        return calls.about(ref, () -> orders.start(ref, config, createdBy))
                .flatMap(written -> woken(ref, written.resource())
                        .onErrorResume(
                                SandboxProblem.StartFailed.class,
                                problem -> undone(ref, written.isNew() && isFinal(problem), problem)))
                .onErrorResume(
                        SandboxProblem.Unavailable.class,
                        problem -> asKnown(ref, config).map(Mono::just).orElseGet(() -> Mono.error(problem)));
    }

    /** Without the API server: the sandbox, if as far as is known a start would change nothing. */
    private Optional<RunningSandbox> asKnown(SandboxRef ref, SandboxConfig config) {
        return cache.get(ref.namespace(), ref.name())
                .filter(resource ->
                        SandboxWrites.changes(resource.wanted(), config).isEmpty())
                .flatMap(resource -> view.of(ref.tenant(), resource))
                .flatMap(state -> state instanceof SandboxState.Running(RunningSandbox sandbox)
                        ? Optional.of(sandbox)
                        : Optional.empty());
    }

    /** Nothing half-made stays behind: what this start created and what can never run is deleted again. */
    private Mono<RunningSandbox> undone(SandboxRef ref, boolean delete, SandboxProblem.StartFailed problem) {
        Mono<WorkspaceEnd> undo = delete ? delete(ref).onErrorComplete() : Mono.empty();
        return undo.then(Mono.error(problem));
    }

    private static boolean isFinal(SandboxProblem.StartFailed problem) {
        return Reason.of(problem.reason()).filter(Reason::isFinal).isPresent();
    }

    @Override
    public Mono<RunningSandbox> resume(SandboxRef ref) {
        return start(ref, SandboxConfig.UNCHANGED, "");
    }

    /**
     * Done when the operator has ended the pod: until then another replica, whose cache knows nothing of it yet, would run
     * code there. Without an operator it is done after two seconds, for the order stands.
     */
    @Override
    public Mono<Void> stop(SandboxRef ref) {
        return calls.about(ref, () -> orders.patch(ref, Map.of("suspended", true)))
                .flatMap(written -> {
                    long generation = SandboxView.generationOf(written);
                    return seen(ref, now -> now.isEmpty() || SandboxView.isObserved(now.get(), generation));
                });
    }

    @Override
    public Mono<WorkspaceEnd> delete(SandboxRef ref) {
        return calls.about(ref, () -> orders.delete(ref)).flatMap(deleted -> seen(ref, now -> now.filter(
                                resource -> resource.getMetadata().getDeletionTimestamp() == null
                                        && deleted.uid()
                                                .equals(resource.getMetadata().getUid()))
                        .isEmpty())
                .thenReturn(deleted.workspace()));
    }

    @Override
    public Flux<SandboxEnd> ends(RunningSandbox sandbox) {
        return cache.follow(sandbox.ref().namespace(), sandbox.ref().name())
                .mapNotNull(now -> view.end(now, sandbox).orElse(null))
                .distinctUntilChanged()
                .takeUntil(SandboxEnd.PodGone.class::isInstance);
    }

    @Override
    public void active(RunningSandbox sandbox, Duration busyFor) {
        SandboxRef ref = sandbox.ref();
        Optional<Duration> ownIdleTimeout = cache.get(ref.namespace(), ref.name())
                .flatMap(resource -> TimeLimit.IDLE_TIMEOUT.in(resource.wanted()));
        leases.note(new ActivityLeases.Subject(ref.namespace(), ref.name(), sandbox.uid(), ownIdleTimeout), busyFor);
    }

    /** Wakes one that sleeps, then waits until it is Ready or cannot become so. */
    private Mono<RunningSandbox> woken(SandboxRef ref, Sandbox resource) {
        boolean asleep = view.of(ref.tenant(), resource)
                .filter(SandboxState.Asleep.class::isInstance)
                .isPresent();
        // It may fall asleep right now: its idle time is over, or this start gave it a shorter life than it has had.
        return asleep
                ? wake(ref, resource).then(ready(ref, resource, WAKE_AGAIN))
                : ready(ref, resource, Duration.ZERO);
    }

    private Mono<Void> wake(SandboxRef ref, Sandbox sleeper) {
        return calls.about(ref, () -> {
                    leases.wake(sleeper);
                    return true;
                })
                .then();
    }

    /** Again and again, by the status of each moment: it may have fallen asleep anew, later than that wish to wake it. */
    private Mono<RunningSandbox> keptAwake(SandboxRef ref, Sandbox resource, Duration first) {
        return Flux.interval(first, WAKE_AGAIN)
                .onBackpressureDrop()
                .concatMap(
                        turn -> wake(ref, cache.get(ref.namespace(), ref.name()).orElse(resource))
                                .onErrorComplete(SandboxProblem.Unavailable.class),
                        1)
                .then(Mono.never());
    }

    private Mono<RunningSandbox> ready(SandboxRef ref, Sandbox written, Duration firstWake) {
        long generation = SandboxView.generationOf(written);
        return cache.follow(ref.namespace(), ref.name())
                .filter(now -> now.isEmpty() || SandboxView.isObserved(now.get(), generation))
                .map(now -> now.flatMap(resource -> view.of(ref.tenant(), resource)))
                .filter(Optional::isPresent)
                .map(Optional::get)
                .distinctUntilChanged()
                .switchMap(state ->
                        state instanceof SandboxState.Asleep ? keptAwake(ref, written, firstWake) : outcome(ref, state))
                .next();
    }

    /** What a state means for one who waits for Ready: the sandbox, an error, or nothing yet. */
    private Mono<RunningSandbox> outcome(SandboxRef ref, SandboxState state) {
        return switch (state) {
            case SandboxState.Running(RunningSandbox sandbox) -> Mono.just(sandbox);
            case SandboxState.Asleep asleep -> throw new IllegalStateException("Who sleeps is woken, not waited for");
            case SandboxState.Stopped stopped ->
                Mono.error(new SandboxProblem.StartFailed(ref, "Stopped", "somebody stopped it while it was starting"));
            case SandboxState.Pending pending -> pending(ref, pending);
        };
    }

    private Mono<RunningSandbox> pending(SandboxRef ref, SandboxState.Pending pending) {
        Optional<Reason> reason = Optional.ofNullable(pending.reason()).flatMap(Reason::of);
        if (reason.isEmpty() || !StartTroubles.isTrouble(reason.get())) {
            return Mono.never();
        }
        Mono<RunningSandbox> failure = Mono.error(() -> new SandboxProblem.StartFailed(
                ref,
                reason.get().value(),
                Optional.ofNullable(pending.message()).orElse("no reason given")));
        return reason.get().isFinal() ? failure : Mono.delay(troubleGrace).then(failure);
    }

    private Mono<Void> seen(SandboxRef ref, Predicate<Optional<Sandbox>> expected) {
        return cache.follow(ref.namespace(), ref.name())
                .filter(expected)
                .next()
                .timeout(CACHE_LAG, Mono.just(Optional.empty()))
                .then();
    }

    private static Optional<String> why(SandboxState.Pending pending) {
        return Optional.ofNullable(pending.reason()).map(reason -> "%s: %s"
                .formatted(reason, Optional.ofNullable(pending.message()).orElse("no reason given")));
    }

    @Override
    public void close() {
        cache.close();
        calls.close();
    }
}
