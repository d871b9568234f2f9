package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.OutputRecord.Stream;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The text of both streams under one cap, in bounded memory: its head and its tail are kept, what is between them is
 * dropped. Lengths are UTF-16 units; a surrogate pair is never cut.
 */
final class CappedText {

    /** {@link #cutOffset} when nothing was dropped. */
    static final long NOTHING_CUT = -1;

    // Small pieces of one stream share a segment, so that a flood of them is bounded by its characters.
    private static final int MERGE_BELOW = 4096;

    private final Map<Stream, StringBuilder> head = new EnumMap<>(Stream.class);
    private final ArrayDeque<Segment> tail = new ArrayDeque<>();
    private final Set<Stream> cutStreams = EnumSet.noneOf(Stream.class);
    private final int limit;
    private final int tailLimit;
    private int headRoom;
    private boolean headClosed;
    private int tailLength;
    private long cutOffset = NOTHING_CUT;

    private CappedText(int headChars, int tailChars) {
        this.limit = headChars + tailChars;
        this.headRoom = headChars;
        this.tailLimit = tailChars;
        for (Stream stream : Stream.values()) {
            head.put(stream, new StringBuilder());
        }
    }

    /** Keeps half of the limit at each end. */
    static CappedText headAndTail(int maxChars) {
        return new CappedText(maxChars - maxChars / 2, maxChars / 2);
    }

    /** Keeps the beginning, and at least one character of it, so that whoever turns pages gets on: a page. */
    static CappedText page(int maxChars) {
        return new CappedText(maxChars, 0);
    }

    /** A text under the same rule as {@link #headAndTail}. */
    static String cut(String text, int maxChars) {
        if (text.length() <= maxChars) {
            return text;
        }
        CappedText capped = headAndTail(maxChars);
        capped.append(Stream.STDOUT, text, 0);
        return capped.text(Stream.STDOUT);
    }

    /**
     * Adds a piece.
     *
     * @param offset position of its first byte in the execution's output
     */
    void append(Stream stream, String text, long offset) {
        int taken = headClosed ? 0 : intoHead(stream, text, room(text));
        if (taken < text.length()) {
            intoTail(stream, text, taken, offset + Utf8Stream.length(text, 0, taken));
        }
    }

    /**
     * Adds a piece of which only the beginning has an offset. A page has all or nothing of it, and if it is the first,
     * all however long it is.
     *
     * @param offset where it is to be read if it is dropped
     */
    void appendWhole(Stream stream, String text, long offset) {
        boolean fits = text.length() <= headRoom || isEmptyPage();
        int room = fits ? text.length() : isPage() ? 0 : room(text);
        int taken = headClosed ? 0 : intoHead(stream, text, room);
        if (taken < text.length()) {
            intoTail(stream, text, taken, offset);
        }
    }

    /**
     * Ends a line whose end is no byte of the output. It counts for nothing behind text that is kept whole, as it would
     * be missing between two pages else.
     *
     * @param offset position after the line
     */
    void endLine(Stream stream, long offset) {
        if (cutOffset == NOTHING_CUT && tail.isEmpty()) {
            head.getOrDefault(stream, new StringBuilder()).append('\n');
        } else {
            append(stream, "\n", offset);
        }
    }

    /** Position of the first byte that was dropped, or {@link #NOTHING_CUT}. */
    long cutOffset() {
        return cutOffset;
    }

    /** What is left of a stream, with a mark where something was dropped. */
    String text(Stream stream) {
        StringBuilder text = new StringBuilder(head.getOrDefault(stream, new StringBuilder()));
        if (cutStreams.contains(stream) && !isPage()) {
            text.append("\n[Output truncated: exceeded ").append(limit).append(" character limit]\n");
        }
        tail.stream().filter(segment -> segment.stream == stream).forEach(segment -> segment.appendTo(text));
        return text.toString();
    }

    private boolean isPage() {
        return tailLimit == 0;
    }

    private boolean isEmptyPage() {
        return isPage() && headRoom == limit;
    }

    /** How much of a text the head takes; a page that took nothing of it for its length would be asked for again. */
    private int room(String text) {
        int room = Math.min(Math.max(0, headRoom), text.length());
        if (room > 0 && room < text.length() && Character.isHighSurrogate(text.charAt(room - 1))) {
            return isEmptyPage() && room == 1 ? 2 : room - 1;
        }
        return room;
    }

    private int intoHead(Stream stream, String text, int taken) {
        headClosed = taken < text.length() || taken > headRoom;
        head.getOrDefault(stream, new StringBuilder()).append(text, 0, taken);
        headRoom -= taken;
        return taken;
    }

    private void intoTail(Stream stream, String text, int from, long offset) {
        int start = Math.max(from, text.length() - tailLimit);
        if (start > from) {
            dropTail();
            note(stream, offset);
            if (start < text.length() && Character.isLowSurrogate(text.charAt(start))) {
                start++;
            }
        }
        if (start == text.length()) {
            return;
        }
        Segment last = tail.peekLast();
        if (last == null || last.stream != stream || last.text.length() >= MERGE_BELOW) {
            last = new Segment(stream, offset + Utf8Stream.length(text, from, start));
            tail.add(last);
        }
        last.text.append(text, start, text.length());
        tailLength += text.length() - start;
        while (tailLength > tailLimit) {
            shorten();
        }
    }

    private void dropTail() {
        tail.forEach(segment -> note(segment.stream, segment.offset()));
        tail.clear();
        tailLength = 0;
    }

    private void shorten() {
        Segment first = tail.getFirst();
        note(first.stream, first.offset());
        tailLength -= first.drop(tailLength - tailLimit);
        if (first.isEmpty()) {
            tail.removeFirst();
        }
    }

    private void note(Stream stream, long offset) {
        cutStreams.add(stream);
        // A line that one stream had not finished may come after what the other said later.
        cutOffset = cutOffset == NOTHING_CUT ? offset : Math.min(cutOffset, offset);
    }

    /** Text of one stream; its beginning may be dropped. */
    private static final class Segment {
        private final Stream stream;
        private final StringBuilder text = new StringBuilder();
        private final long origin;
        private int start;

        private Segment(Stream stream, long origin) {
            this.stream = stream;
            this.origin = origin;
        }

        private long offset() {
            // Asked for when the first byte is dropped, and of no consequence afterwards.
            return start == 0 ? origin : origin + Utf8Stream.length(text, 0, start);
        }

        private boolean isEmpty() {
            return start >= text.length();
        }

        private int drop(int count) {
            int end = Math.min(text.length(), start + count);
            if (end < text.length() && Character.isLowSurrogate(text.charAt(end))) {
                end++;
            }
            int dropped = end - start;
            start = end;
            return dropped;
        }

        private void appendTo(StringBuilder out) {
            out.append(text, start, text.length());
        }
    }
}
