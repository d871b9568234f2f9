package dev.sandglass.gateway.link.call;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The same answers until this process is to end. From then on it offers no kind of call and takes none, so that supervisors
 * ask another replica; what it took before is answered. Thread-safe.
 */
public final class DrainableCalls implements PodCalls {

    private final PodCalls calls;
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private boolean draining;
    private int owed;

    public DrainableCalls(PodCalls calls) {
        this.calls = calls;
    }

    /** None while it drains: {@link UnansweredCalls} refuses a call that crosses with that as of an unknown kind. */
    @Override
    public Set<String> kinds() {
        return isDraining() ? Set.of() : calls.kinds();
    }

    @Override
    public CompletableFuture<PodAnswer> answer(PodCall call) {
        begin();
        CompletableFuture<PodAnswer> asked;
        try {
            asked = calls.answer(call);
        } catch (RuntimeException fault) {
            end();
            throw fault;
        }
        var counted = new CompletableFuture<PodAnswer>();
        var _ = asked.whenComplete((given, failure) -> pass(counted, given, failure));
        var _ = counted.whenComplete((given, _) -> {
            if (counted.isCancelled()) {
                asked.cancel(false);
            }
            if (given == null) {
                end();
            }
        });
        return counted;
    }

    private void pass(CompletableFuture<PodAnswer> counted, @Nullable PodAnswer given, @Nullable Throwable failure) {
        if (given == null) {
            counted.completeExceptionally(failure != null ? failure : new IllegalStateException("no answer"));
        } else if (!counted.complete(new PodAnswer(given.answer(), () -> gone(given)))) {
            given.gone().run();
        }
    }

    private void gone(PodAnswer given) {
        given.gone().run();
        end();
    }

    /**
     * Takes no more calls.
     *
     * @return done when no answer is owed any more: each was sent, or nothing waits for it
     */
    public CompletableFuture<Void> drain() {
        boolean done;
        synchronized (this) {
            draining = true;
            done = owed == 0;
        }
        if (done) {
            answered.complete(null);
        }
        return answered.copy();
    }

    private synchronized boolean isDraining() {
        return draining;
    }

    private synchronized void begin() {
        owed++;
    }

    private void end() {
        boolean done;
        synchronized (this) {
            owed--;
            done = draining && owed == 0;
        }
        if (done) {
            answered.complete(null);
        }
    }
}
