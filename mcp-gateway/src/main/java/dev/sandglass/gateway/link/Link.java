package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The way to one sandbox's supervisor. Connects at first use, reconnects by itself, closes after idling. Thread-safe.
 * Futures complete on the link's thread, so continuations must be short; they fail with {@link LinkException} only.
 * Cancelling a future withdraws a verb that was not sent yet; the answer to one that was is not waited for any more.
 */
public interface Link {

    /**
     * Asks one thing.
     *
     * @param timeout until the answer, connecting included
     */
    CompletableFuture<Answer> ask(Verb verb, Duration timeout);

    /**
     * Asks for an execution's output along with the verb. The reader gets the answer, then records until the outcome,
     * {@link OutputReader#lost} or {@link #unfollow}; not called at all if the future fails. A caller's continuation of
     * the future may run after the first records came. A broken connection is made anew and the reading goes on where it
     * was.
     */
    CompletableFuture<Answer> follow(Verb.Following verb, OutputReader reader, Duration timeout);

    /** Ends a reading; the reader is not called any more once the link's thread has seen this. */
    void unfollow(OutputReader reader);

    /**
     * Tells events until closed; keeps the connection open, and tried for, meanwhile.
     */
    Subscription events(Consumer<LinkEvent> listener);

    /** Closes the connection now, and not only after idling, if nothing is under way there. */
    void release();

    /** Whether the supervisor answers at this moment, as far as is known. */
    boolean isOpen();

    /** Runs something short on the link's thread, after what was handed to it before. */
    void execute(Runnable action);

    /** Runs something short on the link's thread after a delay; closing prevents it. */
    Subscription after(Duration delay, Runnable action);

    /** Something that goes on until it is closed. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
