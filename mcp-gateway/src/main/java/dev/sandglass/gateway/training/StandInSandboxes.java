package dev.sandglass.gateway.training;

import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One sandbox that always runs, behind the same link as a real one: a stand-in for its supervisor serves it on loopback. */
public final class StandInSandboxes implements Sandboxes {

    static final String NAME = "training";
    static final String UID = "training-uid";
    static final int INCARNATION = 1;

    private static final String ADDRESS = "127.0.0.1";

    private final int port;

    /**
     * @param port on which the stand-in for the supervisor listens
     */
    public StandInSandboxes(int port) {
        this.port = port;
    }

    private RunningSandbox sandbox(SandboxRef ref) {
        return new RunningSandbox(ref, UID, INCARNATION, ADDRESS, port);
    }

    @Override
    public Optional<SandboxState> find(SandboxRef ref) {
        return ref.name().equals(NAME) ? Optional.of(new SandboxState.Running(sandbox(ref))) : Optional.empty();
    }

    @Override
    public Mono<Optional<SandboxState>> findByUid(String tenant, String namespace, String uid, int incarnation) {
        return Mono.just(list(tenant, namespace).stream()
                .filter(state -> state.uid().equals(uid))
                .findFirst());
    }

    @Override
    public List<SandboxState> list(String tenant, String namespace) {
        return find(new SandboxRef(tenant, namespace, NAME, NAME)).stream().toList();
    }

    @Override
    public Flux<Optional<SandboxState>> states(SandboxRef ref) {
        return Flux.just(find(ref)).concatWith(Flux.never());
    }

    @Override
    public Mono<RunningSandbox> running(SandboxRef ref) {
        return find(ref).isPresent()
                ? Mono.just(sandbox(ref))
                : Mono.error(new SandboxProblem.NotFound(ref.givenName(), ref.tenant()));
    }

    @Override
    public Mono<RunningSandbox> start(SandboxRef ref, SandboxConfig config, String createdBy) {
        return running(ref);
    }

    @Override
    public Mono<RunningSandbox> resume(SandboxRef ref) {
        return running(ref);
    }

    @Override
    public Mono<Void> stop(SandboxRef ref) {
        return running(ref).then();
    }

    @Override
    public Mono<Deletion> delete(SandboxRef ref) {
        return running(ref).thenReturn(Deletion.of(WorkspaceEnd.SCRATCH));
    }

    @Override
    public Flux<SandboxEnd> ends(RunningSandbox sandbox) {
        return Flux.never();
    }

    @Override
    public void active(RunningSandbox sandbox, Duration busyFor) {
        // Nobody would put it to sleep.
    }
}
