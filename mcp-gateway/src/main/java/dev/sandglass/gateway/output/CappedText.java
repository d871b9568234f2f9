package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The text of both streams under one cap, in bounded memory: its head and its tail are kept, what is between them is
 * dropped. Lengths are UTF-16 units; a surrogate pair is never cut.
 */
final class CappedText {

    /** {@link #cutOffset} when nothing was dropped. */
    static final long NOTHING_CUT = -1;

    // Small pieces of one stream share a piece, so that a flood of them is bounded by its characters.
    private static final int MERGE_BELOW = 4096;

    private final Map<Stream, ArrayDeque<Piece>> head = new EnumMap<>(Stream.class);
    private final ArrayDeque<Piece> tail = new ArrayDeque<>();
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
     * Adds a piece in whose place another text can be put.
     *
     * @param offset position of its first byte in the execution's output
     * @return null, and nothing is added, if there is no room for all of it
     */
    @Nullable
    Piece appendApart(Stream stream, String text, long offset) {
        boolean inHead = !headClosed && text.length() <= headRoom;
        if (!inHead && text.length() > tailRoom()) {
            return null;
        }
        Piece piece = new Piece(stream, offset, inHead ? Apart.IN_HEAD : Apart.IN_TAIL);
        (inHead ? head(stream) : tail).add(piece);
        headClosed = !inHead;
        put(piece, text);
        return piece;
    }

    /**
     * Puts another text, of one character at least, in the place of a piece that stands apart.
     *
     * @return false if a part of it was dropped, or there is no room
     */
    boolean replace(Piece piece, String text) {
        int room = piece.apart == Apart.IN_HEAD ? piece.text.length() + headRoom + tailLimit : tailRoom();
        if (piece.start > 0 || text.length() > room) {
            return false;
        }
        put(piece, text);
        return true;
    }

    /** What the head takes more than its room, the tail has less. */
    private void put(Piece piece, String text) {
        int more = text.length() - piece.text.length();
        piece.text.setLength(0);
        piece.text.append(text);
        if (piece.apart == Apart.IN_HEAD) {
            headRoom -= more;
        } else {
            tailLength += more;
        }
        shorten();
    }

    /**
     * Ends a line whose end is no byte of the output. It counts for nothing behind text that is kept whole, as it would
     * be missing between two pages else.
     *
     * @param offset position after the line
     */
    void endLine(Stream stream, long offset) {
        if (cutOffset == NOTHING_CUT && tail.isEmpty()) {
            open(head(stream), stream, offset, Integer.MAX_VALUE).text.append('\n');
        } else {
            append(stream, "\n", offset);
        }
    }

    /** How many it holds. */
    int chars() {
        return limit - tailLimit - headRoom + tailLength;
    }

    /** Position of the first byte that was dropped, or {@link #NOTHING_CUT}. */
    long cutOffset() {
        return cutOffset;
    }

    /** What is left of a stream, with a mark where something was dropped. */
    String text(Stream stream) {
        StringBuilder text = new StringBuilder();
        head(stream).forEach(piece -> piece.appendTo(text));
        if (cutStreams.contains(stream) && !isPage()) {
            text.append("\n[Output truncated: exceeded ").append(limit).append(" character limit]\n");
        }
        tail.stream().filter(piece -> piece.stream == stream).forEach(piece -> piece.appendTo(text));
        return text.toString();
    }

    private ArrayDeque<Piece> head(Stream stream) {
        return head.computeIfAbsent(stream, _ -> new ArrayDeque<>());
    }

    private int tailRoom() {
        return Math.max(0, tailLimit + Math.min(0, headRoom));
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
        if (taken > 0) {
            open(head(stream), stream, 0, Integer.MAX_VALUE).text.append(text, 0, taken);
            headRoom -= taken;
        }
        return taken;
    }

    private void intoTail(Stream stream, String text, int from, long offset) {
        int start = Math.max(from, text.length() - tailRoom());
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
        open(tail, stream, offset + Utf8Stream.length(text, from, start), MERGE_BELOW)
                .text
                .append(text, start, text.length());
        tailLength += text.length() - start;
        shorten();
    }

    /** The last piece if it can take more of a stream, else a new one. */
    private static Piece open(ArrayDeque<Piece> pieces, Stream stream, long offset, int most) {
        Piece last = pieces.peekLast();
        if (last == null || last.stream != stream || last.apart != Apart.NOT || last.text.length() >= most) {
            last = new Piece(stream, offset, Apart.NOT);
            pieces.add(last);
        }
        return last;
    }

    private void dropTail() {
        tail.forEach(piece -> {
            note(piece.stream, piece.offset());
            piece.drop(Integer.MAX_VALUE);
        });
        tail.clear();
        tailLength = 0;
    }

    private void shorten() {
        while (tailLength > tailRoom()) {
            Piece first = tail.getFirst();
            note(first.stream, first.offset());
            tailLength -= first.drop(tailLength - tailRoom());
            if (first.isEmpty()) {
                tail.removeFirst();
            }
        }
    }

    private void note(Stream stream, long offset) {
        cutStreams.add(stream);
        // A line that one stream had not finished may come after what the other said later.
        cutOffset = cutOffset == NOTHING_CUT ? offset : Math.min(cutOffset, offset);
    }

    /** Whether a piece stands apart, so that it can be replaced, and where. */
    private enum Apart {
        NOT,
        IN_HEAD,
        IN_TAIL
    }

    /** Text of one stream; its beginning may be dropped. */
    static final class Piece {
        private final Stream stream;
        private final StringBuilder text = new StringBuilder();
        private final long origin;
        private final Apart apart;
        private int start;

        private Piece(Stream stream, long origin, Apart apart) {
            this.stream = stream;
            this.origin = origin;
            this.apart = apart;
        }

        private long offset() {
            // Asked for when the first byte is dropped, and of no consequence afterwards.
            return start == 0 ? origin : origin + Utf8Stream.length(text, 0, start);
        }

        private boolean isEmpty() {
            return start >= text.length();
        }

        private int drop(int count) {
            int end = start + Math.min(text.length() - start, count);
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
