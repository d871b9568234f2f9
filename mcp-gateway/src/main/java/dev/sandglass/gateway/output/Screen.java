package dev.sandglass.gateway.output;

import java.util.Arrays;

/**
 * One text stream as a terminal would leave it: of a line that is written over again, as progress bars do, its last state;
 * no terminal codes. Holds the unfinished line back, at most {@value #MAX_LINE} code points of it; what is longer is passed
 * on and stays as it is. Pure; one thread at a time.
 */
final class Screen {

    static final int MAX_LINE = 4096;

    /** Columns of a wide terminal, the last of which a jump over what nobody wrote reaches at most. */
    static final int WIDTH = 256;

    /** Takes text that is final. */
    interface Sink {
        /**
         * Called once for each piece, in order.
         *
         * @param offset where its first byte stands in the execution's output
         * @param rewritten it is not what the stream said byte by byte, so that no place within it has an offset
         */
        void text(String text, long offset, boolean rewritten);
    }

    private final Sink sink;
    private final TerminalCodes codes = new TerminalCodes();
    private int[] line = new int[128];
    private int length;
    private int column;
    private long lineOffset;
    private long position;
    // Part of the line was passed on already, so that writing over it can only begin a new one.
    private boolean begunElsewhere;
    private boolean returned;
    private boolean rewritten;

    Screen(Sink sink) {
        this.sink = sink;
    }

    /** Takes what the stream says next. */
    void write(String text, long offset) {
        position = offset;
        if (length == 0) {
            lineOffset = offset;
        }
        int from = isPlain(text) ? writeLines(text) : 0;
        int counted = from;
        for (int at = from; at < text.length(); ) {
            int codePoint = text.codePointAt(at);
            at += Character.charCount(codePoint);
            if (codePoint == '\n' || length >= MAX_LINE - 1) {
                position += Utf8Stream.length(text, counted, at);
                counted = at;
            }
            put(codePoint);
        }
        position += Utf8Stream.length(text, counted, text.length());
    }

    /** Passes the unfinished line on. */
    void flush() {
        if (length > 0) {
            begunElsewhere = true;
            sink.text(new String(line, 0, length), lineOffset, rewritten);
            restart();
        }
    }

    /** Most text: whole lines are passed on as they are. Gives the index of the first character that is not. */
    private int writeLines(String text) {
        int end = text.lastIndexOf('\n') + 1;
        if (end > 0) {
            if (text.charAt(0) == '\n') {
                // The line was ended after its return, not written over.
                returned = false;
            }
            newLineIfReturned();
            int first = rewritten ? text.indexOf('\n') + 1 : 0;
            if (first > 0) {
                sink.text(new String(line, 0, length) + text.substring(0, first), lineOffset, true);
                position += Utf8Stream.length(text, 0, first);
                restart();
            }
            if (first < end) {
                sink.text(new String(line, 0, length) + text.substring(first, end), lineOffset, false);
                position += Utf8Stream.length(text, first, end);
            }
            begunElsewhere = false;
            restart();
        }
        return end;
    }

    private boolean isPlain(String text) {
        if (codes.isOpen() || column != length) {
            return false;
        }
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '\r' || c == '\b' || TerminalCodes.begins(c)) {
                return false;
            }
        }
        return true;
    }

    private void put(int codePoint) {
        TerminalCodes.Effect effect = codes.take(codePoint);
        rewritten |= !(effect instanceof TerminalCodes.Effect.Print);
        switch (effect) {
            case TerminalCodes.Effect.Print _ -> print(codePoint);
            case TerminalCodes.Effect.EraseRight _ -> length = Math.min(length, column);
            case TerminalCodes.Effect.EraseLine _ -> {
                length = 0;
                column = reachable(column);
            }
            case TerminalCodes.Effect.Column(int wanted) -> moveTo(wanted);
            case TerminalCodes.Effect.Nothing _ -> {}
        }
    }

    private void print(int codePoint) {
        switch (codePoint) {
            case '\n' -> {
                returned = false;
                sink.text(new String(line, 0, length) + "\n", lineOffset, rewritten);
                begunElsewhere = false;
                restart();
            }
            case '\r' -> {
                // Windows ends its lines so: what stands before it is as it came.
                rewritten |= length == 0;
                moveTo(0);
            }
            case '\b' -> {
                rewritten = true;
                column = Math.max(0, column - 1);
            }
            default -> overwrite(codePoint);
        }
    }

    private void moveTo(int wanted) {
        column = reachable(wanted);
        returned |= wanted == 0 && begunElsewhere;
    }

    /** A few bytes that move far to the right must not become a line of thousands of spaces, again and again. */
    private int reachable(int wanted) {
        return Math.min(wanted, Math.max(length, WIDTH - 1));
    }

    private void overwrite(int codePoint) {
        newLineIfReturned();
        rewritten |= column != length;
        if (column >= line.length) {
            line = Arrays.copyOf(line, MAX_LINE);
        }
        if (column > length) {
            Arrays.fill(line, length, column, ' ');
        }
        line[column++] = codePoint;
        length = Math.max(length, column);
        if (length >= MAX_LINE) {
            flush();
        }
    }

    private void newLineIfReturned() {
        if (returned) {
            sink.text("\n", lineOffset, true);
            returned = false;
            begunElsewhere = false;
        }
    }

    private void restart() {
        length = 0;
        column = 0;
        rewritten = false;
        lineOffset = position;
    }
}
