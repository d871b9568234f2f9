package dev.sandglass.gateway.link.call;

import dev.sandglass.gateway.link.frame.Answer;

/**
 * The answer to a pod's call.
 *
 * @param answer what the pod gets
 * @param gone run once, when this process no longer keeps the answer: a pod that does not read lets it wait
 */
public record PodAnswer(Answer answer, Runnable gone) {

    /** One whose bytes nobody counts. */
    public PodAnswer(Answer answer) {
        this(answer, () -> {});
    }

    /** Not what it says. */
    @Override
    public String toString() {
        return "PodAnswer[" + answer + "]";
    }
}
