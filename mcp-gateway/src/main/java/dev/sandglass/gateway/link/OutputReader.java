package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.OutputRecord;
import java.util.concurrent.CompletionStage;

/** Gets the output of one execution, in order and never concurrently, on the link's thread: must not block. */
public interface OutputReader {

    /** The supervisor's answer to the verb that asked for the output: once, before the first record. */
    void begun(Answer answer);

    /**
     * The next record; {@link OutputRecord.Outcome} is the last.
     *
     * @return completes when the record is dealt with. The window of the execution (256 KiB) moves only then, so a slow
     *     reader slows the code down and nothing piles up
     */
    CompletionStage<?> record(OutputRecord record);

    /** There will be no more records, and the outcome cannot be known: the supervisor forgot the execution, or restarted. */
    void lost(LinkException why);
}
