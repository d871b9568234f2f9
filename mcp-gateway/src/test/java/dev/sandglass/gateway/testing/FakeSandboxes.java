package dev.sandglass.gateway.testing;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** Sandboxes in memory. A started one runs at once, unless a test says what is to come of starts. */
public final class FakeSandboxes implements Sandboxes {

    private static final Duration LAG = Duration.ofMillis(500);

    /** What was asked for, in order. */
    public final List<String> orders = new CopyOnWriteArrayList<>();

    /** The configurations of all starts. */
    public final List<SandboxConfig> configs = new CopyOnWriteArrayList<>();

    /** For how long sandboxes were told to be busy. */
    public final List<Duration> busy = new CopyOnWriteArrayList<>();

    private final Map<String, SandboxState> states = new ConcurrentHashMap<>();
    private final Sinks.Many<String> changes = Sinks.many().multicast().directBestEffort();
    private final Map<String, Sinks.One<SandboxEnd>> ends = new ConcurrentHashMap<>();
    private volatile Optional<Mono<RunningSandbox>> nextStart = Optional.empty();
    private volatile Runnable onceNotSeen = () -> {};
    private volatile Deletion nextDeletion = Deletion.of(WorkspaceEnd.SCRATCH);

    /** What the next starts and resumptions answer. */
    public void startsAnswer(Mono<RunningSandbox> answer) {
        nextStart = Optional.of(answer);
    }

    /** What the next deletions do. */
    public void deletionsMean(Deletion done) {
        nextDeletion = done;
    }

    /** What happens when an incarnation was looked for that is not there yet. */
    public void onceNotSeen(Runnable deed) {
        onceNotSeen = deed;
    }

    /** Puts a sandbox into a state. */
    public void put(SandboxState state) {
        states.put(key(state.ref()), state);
        changes.emitNext(state.ref().name(), Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
    }

    /** A running sandbox in the tenant {@code default}. */
    public RunningSandbox addRunning(String name) {
        var ref = new SandboxRef("default", "sandglass-default", name, name);
        return run(ref, List.of());
    }

    /** The same in the tenant {@code other}. */
    public RunningSandbox addRunningOfOther(String name) {
        return run(new SandboxRef("other", "sandglass-other", name, "other-" + name), List.of());
    }

    private RunningSandbox run(SandboxRef ref, List<SandboxPort> ports) {
        return run(ref, ports, Reach.NOTHING);
    }

    private RunningSandbox run(SandboxRef ref, List<SandboxPort> ports, Reach reach) {
        var sandbox = new RunningSandbox(
                ref, uid(ref.name()), 1, "127.0.0.1", 5710, ports, reach, Restarts.NONE, Optional.empty());
        put(new SandboxState.Running(sandbox));
        return sandbox;
    }

    /** No longer than a UID is. */
    private static String uid(String name) {
        return "uid-" + name.substring(Math.max(0, name.length() - 32));
    }

    @Override
    public Optional<SandboxState> find(SandboxRef ref) {
        return Optional.ofNullable(states.get(key(ref)));
    }

    @Override
    public Flux<Optional<SandboxState>> states(SandboxRef ref) {
        return Flux.concat(
                Mono.fromSupplier(() -> find(ref)), Flux.defer(changes::asFlux).map(change -> find(ref)));
    }

    /** That an incarnation is not there is said after {@link #LAG}; that there is no such sandbox, at once. */
    @Override
    public Mono<Optional<SandboxState>> findByUid(String tenant, String namespace, String uid, int incarnation) {
        return Flux.concat(Mono.just(uid), Flux.defer(this::changesOnceNotSeen))
                .map(_ -> byUid(namespace, uid))
                .filter(found -> found.isEmpty()
                        || (found.get() instanceof SandboxState.Running(RunningSandbox sandbox)
                                && sandbox.incarnation() >= incarnation))
                .next()
                .timeout(LAG, Mono.fromSupplier(() -> byUid(namespace, uid)));
    }

    private Flux<String> changesOnceNotSeen() {
        return changes.asFlux().doOnSubscribe(_ -> Schedulers.parallel().schedule(onceNotSeen));
    }

    private Optional<SandboxState> byUid(String namespace, String uid) {
        return states.values().stream()
                .filter(state ->
                        state.ref().namespace().equals(namespace) && state.uid().equals(uid))
                .findFirst();
    }

    @Override
    public List<SandboxState> list(String tenant, String namespace) {
        var found = new ArrayList<>(states.values().stream()
                .filter(state -> state.ref().namespace().equals(namespace))
                .toList());
        found.sort(Comparator.comparing(state -> state.ref().name()));
        return found;
    }

    @Override
    public Mono<RunningSandbox> running(SandboxRef ref) {
        return Mono.defer(() -> switch (states.get(key(ref))) {
            case SandboxState.Running running -> Mono.just(running.sandbox());
            case SandboxState.Stopped stopped -> Mono.error(SandboxProblem.NotRunning.stopped(ref));
            case SandboxState.Asleep asleep -> Mono.error(new SandboxProblem.Asleep(ref, asleep.reason()));
            case SandboxState.Pending pending -> Mono.error(SandboxProblem.NotRunning.starting(ref, Optional.empty()));
            case null -> Mono.error(new SandboxProblem.NotFound(ref.givenName(), ref.tenant()));
        });
    }

    @Override
    public Mono<RunningSandbox> start(SandboxRef ref, SandboxConfig config, String createdBy, Runnable created) {
        if (!states.containsKey(key(ref))) {
            created.run();
        }
        orders.add("start " + ref.namespace() + "/" + ref.name() + " by " + createdBy);
        configs.add(config);
        var reach = new Reach(Objects.requireNonNullElse(config.allowedDomains(), List.of()), false, Optional.empty());
        return nextStart.orElseGet(
                () -> Mono.fromSupplier(() -> run(ref, Objects.requireNonNullElse(config.ports(), List.of()), reach)));
    }

    @Override
    public Mono<RunningSandbox> resume(SandboxRef ref) {
        orders.add("resume " + ref.name());
        return nextStart.orElseGet(() -> Mono.fromSupplier(() -> run(ref, List.of())));
    }

    @Override
    public Mono<Void> stop(SandboxRef ref) {
        orders.add("stop " + ref.name());
        return find(ref)
                .map(state -> Mono.<Void>fromRunnable(() -> put(new SandboxState.Stopped(ref, state.uid()))))
                .orElseGet(() -> Mono.error(new SandboxProblem.NotFound(ref.givenName(), ref.tenant())));
    }

    @Override
    public Mono<Deletion> delete(SandboxRef ref) {
        orders.add("delete " + ref.name());
        return states.remove(key(ref)) != null
                ? Mono.just(nextDeletion)
                : Mono.error(new SandboxProblem.NotFound(ref.givenName(), ref.tenant()));
    }

    @Override
    public Flux<SandboxEnd> ends(RunningSandbox sandbox) {
        return ends.computeIfAbsent(key(sandbox.ref()), _ -> Sinks.one())
                .asMono()
                .flux();
    }

    /** Ends the pod of a sandbox in the tenant {@code default}. */
    public void end(String name, String why) {
        ends.computeIfAbsent("sandglass-default/" + name, _ -> Sinks.one()).tryEmitValue(new SandboxEnd.PodGone(why));
    }

    @Override
    public void active(RunningSandbox sandbox, Duration busyFor) {
        busy.add(busyFor);
    }

    private static String key(SandboxRef ref) {
        return ref.namespace() + "/" + ref.name();
    }
}
