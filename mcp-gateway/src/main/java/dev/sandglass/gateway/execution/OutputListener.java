package dev.sandglass.gateway.execution;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Is told of an execution's way, and its text while it arrives. Called in order and never concurrently, on the link's one thread: it
 * must return at once, and hop to another thread for anything that takes long.
 */
@FunctionalInterface
public interface OutputListener {

    /** For a listener that is done with a text as soon as it returns. */
    CompletionStage<?> CONSUMED = CompletableFuture.completedFuture(null);

    /** Listens to nothing. */
    OutputListener NONE = (bytesSoFar, text) -> CONSUMED;

    /**
     * Some more of standard output or standard error.
     *
     * @param bytesSoFar position in the execution's output after this text, in bytes; grows with every call
     * @param text at most 64 KiB of it, never empty, never half a character
     * @return completes when the text was passed on (or will never be). Until then its bytes count against the window
     *     (256 KiB per execution); when that is full, the code itself waits. A stage that fails counts as completed
     */
    CompletionStage<?> output(long bytesSoFar, String text);

    /**
     * What it is at from now on, as in "still running"; for whoever hears nothing for long.
     *
     * @param what a participle with what belongs to it, of ours alone
     */
    default void doing(String what) {}

    /** The call made its sandbox, which was not there before. */
    default void created() {}

    /**
     * It waits for others in the queue.
     *
     * @param atMost how long those may take until its turn
     */
    default void queued(Duration atMost) {}
}
