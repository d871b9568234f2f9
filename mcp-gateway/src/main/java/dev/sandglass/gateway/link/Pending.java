package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A verb without its answer yet. Owner thread only, but for the future. */
final class Pending {

    private final String id;
    private final Verb verb;
    private final byte[][] frames;
    private final @Nullable Attachment attachment;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private Link.@Nullable Subscription timeout;
    private boolean sent;

    /**
     * @param frames of the verb, encoded on the asking thread
     * @param attachment the reading that begins with the answer, if any
     */
    Pending(String id, Verb verb, byte[][] frames, @Nullable Attachment attachment) {
        this.id = id;
        this.verb = verb;
        this.frames = frames;
        this.attachment = attachment;
    }

    String id() {
        return id;
    }

    Verb verb() {
        return verb;
    }

    @Nullable
    Attachment attachment() {
        return attachment;
    }

    CompletableFuture<Answer> answer() {
        return answer;
    }

    /** The frames, to be sent now. */
    byte[][] take() {
        sent = true;
        return frames;
    }

    /**
     * Whether it may have run already, or may run yet: it would be wrong to send it to a restarted supervisor, where
     * variables are gone, and to tell the caller that nothing was done.
     */
    boolean mayHaveRun() {
        return sent
                && switch (verb) {
                    case Verb.Execute _, Verb.Command _, Verb.Install _ -> true;
                    case Verb.Files _, Verb.OfSession _, Verb.OfServers _ -> wouldDoMore();
                    case Verb.Hello _, Verb.Configure _, Verb.Attach _, Verb.Detach _, Verb.Interrupt _ -> false;
                    case Verb.ListAll _, Verb.Metrics _ -> false;
                };
    }

    /**
     * Whether it would be wrong to send it again, even to the same supervisor, which knows executions by their ids and
     * nothing else: where it did its work the first time it would find nothing, or something new, such as what another
     * caller ran in the session meanwhile.
     */
    boolean mustNotRepeat() {
        return sent && wouldDoMore();
    }

    private boolean wouldDoMore() {
        return switch (verb) {
            case Verb.OfSession _ -> true;
            // A supervisor refuses a name that it is registering already, and a tool may do anything.
            case Verb.RegisterServer _, Verb.RemoveServer _, Verb.CallServerTool _ -> true;
            case Verb.ListServers _, Verb.ListServerTools _, Verb.CancelServerCall _, Verb.WriteFunctions _ -> false;
            case Verb.Files(FileOperation operation) ->
                operation instanceof FileOperation.Move || operation instanceof FileOperation.Delete;
            case Verb.OfExecution _, Verb.Hello _, Verb.Configure _, Verb.ListAll _, Verb.Metrics _ -> false;
        };
    }

    void expireBy(Link.Subscription timer) {
        timeout = timer;
    }

    void succeed(Answer value) {
        stopTimer();
        answer.complete(value);
    }

    void fail(LinkException why) {
        stopTimer();
        answer.completeExceptionally(mayHaveRun() ? why.afterSending() : why);
    }

    private void stopTimer() {
        if (timeout != null) {
            timeout.close();
        }
    }
}
