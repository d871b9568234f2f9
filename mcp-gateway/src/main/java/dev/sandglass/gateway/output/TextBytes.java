package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord;

/** What the texts of one answer take of its share. One thread at a time. */
public final class TextBytes {

    /** What a character is counted as: it is held, then written as text and as data. */
    public static final int OF_CHAR = 3;

    private final AnswerShare share;
    private final int maxChars;
    private long messageChars;
    private long bytes;

    TextBytes(int maxChars, AnswerShare share) {
        this.maxChars = maxChars;
        this.share = share;
    }

    /**
     * Whether there is room for a record besides what the capped texts hold. It is taken, for as much as may be kept of
     * it, until the next {@link #hold}.
     */
    boolean takeFor(OutputRecord record, long chars) {
        if (record instanceof OutputRecord.Raised raised) {
            // It is in no cap.
            messageChars = (long) raised.name().length() + raised.message().length();
        }
        return hold(chars + Math.min(maxChars, textOf(record)));
    }

    /** The capped texts hold so many characters; false if there is no room for them. */
    boolean hold(long chars) {
        long now = OF_CHAR * (chars + messageChars);
        boolean taken = share.change(now - bytes);
        bytes = taken ? now : bytes;
        return taken;
    }

    private static long textOf(OutputRecord record) {
        return switch (record) {
            case OutputRecord.Shown shown when Pictures.isPicture(shown) -> 0;
            case OutputRecord.Shown shown -> shown.length();
            case OutputRecord.Text piece -> piece.length();
            case OutputRecord.Raised raised -> raised.length();
            case OutputRecord.Gap _, OutputRecord.Cleared _, OutputRecord.Outcome _ -> 0;
        };
    }
}
