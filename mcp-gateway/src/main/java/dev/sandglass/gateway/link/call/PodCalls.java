package dev.sandglass.gateway.link.call;

import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Answers what pods ask. */
public interface PodCalls {

    /** Answers nothing. */
    PodCalls NONE = new PodCalls() {
        @Override
        public Set<String> kinds() {
            return Set.of();
        }

        @Override
        public CompletableFuture<PodAnswer> answer(PodCall call) {
            throw new IllegalArgumentException("No call of the kind " + call.kind() + " is answered");
        }
    };

    /** The kinds that are answered, each of 1 to 63 small letters, digits and {@code _}; supervisors hear of them in hello. May become fewer. */
    Set<String> kinds();

    /**
     * Answers a call of one of these kinds. Called on the links' one thread: it must return at once.
     *
     * @return cancelled when nothing waits for the answer any more. A {@link
     *     dev.sandglass.gateway.link.frame.LinkException} tells the pod its code and its text; of any other failure the pod
     *     hears that it is one of the gateway
     */
    CompletableFuture<PodAnswer> answer(PodCall call);
}
