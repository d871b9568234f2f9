package dev.sandglass.gateway.sandbox;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The sandboxes of all tenants. Reads come from a cache and go on while the API server is away; writes go to the API
 * server and fail at once when it is away. Every error is a {@link SandboxProblem}.
 */
public interface Sandboxes {

    /** The state of one sandbox from the cache; empty if there is none of that name. Never blocks. */
    Optional<SandboxState> find(SandboxRef ref);

    /**
     * The state of the sandbox with that UID in a tenant's namespace, for one who knows of an incarnation of it. What
     * the cache says is told at once if it shows that one running or a later one; else it may be behind, and is not
     * believed without another look. That a sandbox is gone takes a moment to say.
     *
     * @return empty in it if it is gone; errors with {@link SandboxProblem.Unavailable} while that cannot be told
     */
    Mono<Optional<SandboxState>> findByUid(String tenant, String namespace, String uid, int incarnation);

    /** All sandboxes of a tenant's namespace, ordered by name. Never blocks. */
    List<SandboxState> list(String tenant, String namespace);

    /**
     * The running sandbox, from the cache.
     *
     * @return errors with {@link SandboxProblem.NotFound}, {@link SandboxProblem.NotRunning} or
     *     {@link SandboxProblem.Asleep}
     */
    Mono<RunningSandbox> running(SandboxRef ref);

    /**
     * Creates the sandbox, or changes it and takes it out of suspension, and waits until its pod is Ready. Without a
     * change to an already running sandbox nothing is written. Cancelling stops the waiting, not the start.
     *
     * @param config what the caller chose
     * @param createdBy name of the caller, kept in an annotation of a new resource
     * @param created runs as soon as a new resource is written, whatever comes of its start
     * @return errors with {@link SandboxProblem.StartFailed} as soon as the cause is known; never times out by itself
     */
    Mono<RunningSandbox> start(SandboxRef ref, SandboxConfig config, String createdBy, Runnable created);

    /**
     * Brings back a sandbox that the operator suspended, and waits until its pod is Ready. Never creates one, and
     * starts none that was stopped.
     *
     * @return errors with {@link SandboxProblem.NotFound} or {@link SandboxProblem.NotRunning} if somebody deleted or
     *     stopped it meanwhile, and like {@link #start}
     */
    Mono<RunningSandbox> resume(SandboxRef ref);

    /** Its state, then whenever it changes; empty while there is none. Never ends by itself, never errors. */
    Flux<Optional<SandboxState>> states(SandboxRef ref);

    /** Suspends the sandbox; its configuration stays. Errors with {@link SandboxProblem.NotFound}. */
    Mono<Void> stop(SandboxRef ref);

    /**
     * Deletes the sandbox, its claim too unless that is kept. One that finalizers hold is stopped first: no garbage is
     * collected while there is a resource that owns it. Errors with {@link SandboxProblem.NotFound}.
     */
    Mono<Deletion> delete(SandboxRef ref);

    /**
     * Tells the ends of what runs in a sandbox, as the resource shows them, which is a moment later than the link: of its
     * container, and of its pod, after which it completes. It never errors.
     */
    Flux<SandboxEnd> ends(RunningSandbox sandbox);

    /**
     * Notes that the sandbox is used and counts as busy for that long. Returns at once; the activity lease is written
     * in the background and only when what it says no longer covers this.
     */
    void active(RunningSandbox sandbox, Duration busyFor);
}
