package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import dev.sandglass.gateway.sandbox.SeatId;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The door of this room: sandboxes as resources, read from the informers' cache, written to the API server. */
public final class KubernetesSandboxes implements Sandboxes, AutoCloseable {

    /** Stands for every namespace of the cluster. */
    public static final String EVERYWHERE = SandboxCache.EVERYWHERE;

    /** The operator and the cache follow within a moment; this only keeps one that is away from blocking a stop. */
    static final Duration CACHE_LAG = Duration.ofSeconds(2);

    private final KubernetesClient client;
    private final KubernetesSettings settings;
    private final SandboxStateReader view;
    private final SandboxOrders orders;
    private final SandboxCache cache;
    private final ActivityLeases leases;
    private final ApiCalls calls;
    private final StartWait waiting;

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
        this.client = client;
        this.settings = settings;
        this.calls = new ApiCalls();
        this.view = new SandboxStateReader(defaults);
        this.leases = new ActivityLeases(client, calls, settings.idleTimeout(), clock);
        this.cache = new SandboxCache(
                client, namespaces, gone -> leases.forget(gone.getMetadata().getUid()));
        this.orders = new SandboxOrders(client, view::reads);
        this.waiting = waiting();
    }

    /** The same cluster, read in another way. */
    private KubernetesSandboxes(KubernetesSandboxes same, SandboxStateReader view) {
        this.client = same.client;
        this.settings = same.settings;
        this.calls = same.calls;
        this.view = view;
        this.leases = same.leases;
        this.cache = same.cache;
        this.orders = new SandboxOrders(client, view::reads);
        this.waiting = waiting();
    }

    private StartWait waiting() {
        var idle = new IdleSandboxes(cache, view, calls, leases);
        return new StartWait(cache, view, calls, orders, leases, idle, settings.troubleGrace());
    }

    /** The sandboxes in which shared MCP servers run, which callers do not know; they live as long as this. */
    public Sandboxes ofServers() {
        return new KubernetesSandboxes(this, new SandboxStateReader(view.defaults(), true));
    }

    /** The resource of that UID, in whatever namespace. */
    Optional<Sandbox> resource(String uid) {
        return cache.getByUid(uid);
    }

    /** The resource of that name. */
    Optional<Sandbox> resource(String namespace, String name) {
        return cache.get(namespace, name);
    }

    /**
     * What the seat of a sandbox is to be configured with, by what the cache knows now. Never blocks.
     *
     * @return empty if it does not know that sandbox in that seat with that incarnation
     */
    public Optional<SeatConfiguration> configuration(String uid, int incarnation, SeatId seat) {
        return cache.getByUid(uid).flatMap(resource -> SandboxStateReader.configuration(resource, incarnation, seat));
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
    public Flux<Optional<SandboxState>> states(SandboxRef ref) {
        return cache.follow(ref.namespace(), ref.name())
                .map(now -> now.flatMap(resource -> view.of(ref.tenant(), resource)));
    }

    /** The API server is asked by names: a UID that the cache does not know has none yet, and is waited for. */
    @Override
    public Mono<Optional<SandboxState>> findByUid(String tenant, String namespace, String uid, int incarnation) {
        if (cache.getByUid(namespace, uid).isEmpty() && !cache.isSynced(namespace)) {
            return Mono.error(unread());
        }
        return cache.followByUid(namespace, uid)
                .<Sandbox>handle((now, sink) -> now.ifPresent(sink::next))
                .next()
                .timeout(CACHE_LAG, Mono.empty())
                .flatMap(known -> atLeast(incarnation, tenant, known))
                .defaultIfEmpty(Optional.empty());
    }

    private Mono<Optional<SandboxState>> atLeast(int incarnation, String tenant, Sandbox known) {
        Optional<SandboxState> state = view.of(tenant, known);
        if (state.isEmpty() || SandboxStateReader.tellsOf(incarnation, known, state.get())) {
            return Mono.just(state);
        }
        SandboxRef ref = state.get().ref();
        String uid = known.getMetadata().getUid();
        return calls.about(ref, () -> orders.read(ref))
                .map(read -> read.filter(now -> uid.equals(now.getMetadata().getUid()))
                        .flatMap(now -> view.of(tenant, now)));
    }

    private static SandboxProblem unread() {
        return new SandboxProblem.Unavailable("the sandboxes were not read yet", null);
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
            return Mono.error(unread());
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
    public Mono<RunningSandbox> start(SandboxRef ref, SandboxConfig config, String createdBy, Runnable created) {
        boolean unseen = cache.isSynced(ref.namespace())
                && cache.get(ref.namespace(), ref.name()).isEmpty();
        return calls.about(ref, () -> orders.start(ref, config, createdBy, unseen))
                .doOnNext(written -> {
                    if (written.isNew()) {
                        created.run();
                    }
                })
                .flatMap(written -> waiting.forReady(ref, written.resource())
                        .onErrorResume(SandboxProblem.StartFailed.class, problem -> undone(ref, written, problem)))
                .onErrorResume(SandboxProblem.Unavailable.class, problem -> asKnown(ref, config, problem));
    }

    /** Without the API server: the sandbox, if as far as is known a start would change nothing. */
    private Mono<RunningSandbox> asKnown(SandboxRef ref, SandboxConfig config, SandboxProblem.Unavailable problem) {
        return cache.get(ref.namespace(), ref.name())
                .filter(resource ->
                        SandboxWrites.changes(resource.wanted(), config).isEmpty())
                .flatMap(resource -> view.of(ref.tenant(), resource))
                .flatMap(state -> state instanceof SandboxState.Running(RunningSandbox sandbox)
                        ? Optional.of(Mono.just(sandbox))
                        : Optional.empty())
                .orElseGet(() -> Mono.error(problem));
    }

    /**
     * Nothing half-made stays behind: what this start created and what can never run is deleted again, unless somebody
     * has given it another wish meanwhile.
     */
    private Mono<RunningSandbox> undone(
            SandboxRef ref, SandboxOrders.Started written, SandboxProblem.StartFailed problem) {
        Mono<Void> undo = written.isNew() && isFinal(problem)
                ? calls.about(ref, () -> orders.undo(ref, written.resource()))
                        .filter(undone -> undone)
                        .flatMap(undone ->
                                gone(ref, written.resource().getMetadata().getUid()))
                        .onErrorComplete()
                : Mono.empty();
        return undo.then(Mono.error(problem));
    }

    private static boolean isFinal(SandboxProblem.StartFailed problem) {
        return Reason.of(problem.reason()).filter(Reason::isFinal).isPresent();
    }

    @Override
    public Mono<RunningSandbox> resume(SandboxRef ref) {
        return calls.about(ref, () -> orders.sleeper(ref))
                .flatMap(sleeper -> waiting.forReady(ref, sleeper))
                .onErrorResume(
                        SandboxProblem.Unavailable.class, problem -> asKnown(ref, SandboxConfig.UNCHANGED, problem));
    }

    /**
     * Done when the operator has ended the pod: until then another replica, whose cache knows nothing of it yet, would run
     * code there. Without an operator it is done after two seconds, for the order stands.
     */
    @Override
    public Mono<Void> stop(SandboxRef ref) {
        return calls.about(ref, () -> orders.patch(ref, Map.of("suspended", true)))
                .flatMap(written -> {
                    long generation = SandboxStateReader.generationOf(written);
                    return seen(ref, now -> now.isEmpty() || SandboxStateReader.isObserved(now.get(), generation));
                });
    }

    @Override
    public Mono<Deletion> delete(SandboxRef ref) {
        return calls.about(ref, () -> orders.holders(ref))
                .flatMap(holders -> holders.isEmpty() ? Mono.empty() : stop(ref))
                .then(Mono.defer(() -> calls.about(ref, () -> orders.delete(ref))))
                .flatMap(deleted -> gone(ref, deleted.uid()).thenReturn(deleted.deletion()));
    }

    private Mono<Void> gone(SandboxRef ref, String uid) {
        return seen(ref, now -> now.filter(resource -> resource.getMetadata().getDeletionTimestamp() == null
                        && uid.equals(resource.getMetadata().getUid()))
                .isEmpty());
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
        leases.note(subject(sandbox), busyFor);
    }

    private ActivityLeases.Subject subject(RunningSandbox sandbox) {
        SandboxRef ref = sandbox.ref();
        return cache.get(ref.namespace(), ref.name())
                .filter(resource -> sandbox.uid().equals(resource.getMetadata().getUid()))
                .map(ActivityLeases.Subject::of)
                .orElseGet(() -> new ActivityLeases.Subject(
                        ref.namespace(), ref.name(), sandbox.uid(), Optional.empty(), Optional.empty()));
    }

    /** All that run, of all tenants; of the tenant they have the namespace alone. Never blocks. */
    public List<RunningSandbox> running() {
        return cache.all()
                .flatMap(resource -> view.of(resource.getMetadata().getNamespace(), resource).stream())
                .flatMap(state -> state instanceof SandboxState.Running(RunningSandbox sandbox)
                        ? Stream.of(sandbox)
                        : Stream.empty())
                .toList();
    }

    /** Whether it runs still and its activity lease says that it may be busy; errors if the API server does not tell. */
    public Mono<Boolean> mayBeBusy(RunningSandbox sandbox) {
        return calls.plainly(() -> find(sandbox.ref()).orElse(null) instanceof SandboxState.Running(RunningSandbox now)
                && now.uid().equals(sandbox.uid())
                && now.incarnation() == sandbox.incarnation()
                && leases.mayBeBusy(subject(sandbox)));
    }

    private Mono<Void> seen(SandboxRef ref, Predicate<Optional<Sandbox>> expected) {
        return cache.follow(ref.namespace(), ref.name())
                .filter(expected)
                .next()
                .timeout(CACHE_LAG, Mono.just(Optional.empty()))
                .then();
    }

    private static Optional<String> why(SandboxState.Pending pending) {
        return Optional.ofNullable(pending.reason())
                .map(reason -> "%s: %s".formatted(reason, pending.cause().orElse("no reason given")));
    }

    @Override
    public void close() {
        cache.close();
        calls.close();
    }
}
