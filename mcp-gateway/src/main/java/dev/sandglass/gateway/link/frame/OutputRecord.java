package dev.sandglass.gateway.link.frame;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.toolserver.CalledTool;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One piece of an execution's output, in the order of its making. Positions are bytes of the execution's output, counted
 * over all kinds.
 */
public sealed interface OutputRecord {

    /** Position of the first byte. */
    long offset();

    /** Position after the last byte. */
    default long end() {
        return offset() + length();
    }

    /** How many bytes of output this is. */
    long length();

    /** The two text streams. */
    enum Stream {
        /** Standard output. */
        STDOUT,
        /** Standard error. */
        STDERR
    }

    /**
     * A piece of a text stream.
     *
     * @param offset see {@link OutputRecord}
     * @param stream which
     * @param utf8 the text; at most 64 KiB
     */
    record Text(long offset, Stream stream, Blob utf8) implements OutputRecord {
        @Override
        public long length() {
            return utf8.length();
        }
    }

    /**
     * Something shown: by the code itself, or as the value of its last expression.
     *
     * @param offset see {@link OutputRecord}
     * @param result whether it is the last expression's value
     * @param mime e.g. {@code text/plain}, {@code image/png}
     * @param content text as UTF-8, pictures as they are
     * @param original of a picture that was scaled down; else null
     * @param display its name, if it can be shown anew; else null
     */
    record Shown(
            long offset,
            boolean result,
            String mime,
            Blob content,
            @Nullable Original original,
            @Nullable Display display)
            implements OutputRecord {
        @Override
        public long length() {
            return content.length();
        }
    }

    /**
     * The name that the code gave to what it displays, so that a newer version can take its place.
     *
     * @param id the name
     * @param update whether this is a newer version of what was displayed under that name
     */
    record Display(String id, boolean update) {

        /** Without the name: the code chose it. */
        @Override
        public String toString() {
            return update ? "Display[update]" : "Display[]";
        }
    }

    /**
     * The full size of a picture that was scaled down in the sandbox, as the sandbox tells it.
     *
     * @param path of its file in the sandbox; null if it could not be kept
     * @param bytes size of the picture; 0 if it is not told
     * @param width in pixels; 0 if it is not told
     * @param height in pixels; 0 if it is not told
     */
    record Original(@Nullable String path, long bytes, int width, int height) {

        /** The dimensions alone: the code chose the path's folder. */
        @Override
        public String toString() {
            return "Original[%d bytes, %d x %d]".formatted(bytes, width, height);
        }
    }

    /**
     * The code took back what it printed and displayed so far.
     *
     * @param offset see {@link OutputRecord}
     * @param later whether only what comes next takes its place, so that it stays if nothing comes
     */
    record Cleared(long offset, boolean later) implements OutputRecord {
        @Override
        public long length() {
            return 0;
        }
    }

    /**
     * The code raised.
     *
     * @param offset see {@link OutputRecord}
     * @param name class of the exception
     * @param message its message
     * @param traceback UTF-8, no terminal codes
     */
    record Raised(long offset, String name, String message, Blob traceback) implements OutputRecord {
        @Override
        public long length() {
            return traceback.length();
        }

        /** The class alone. */
        @Override
        public String toString() {
            return "Raised[" + offset + ", " + name + "]";
        }
    }

    /**
     * Output that the journal no longer holds.
     *
     * @param offset its first byte
     * @param end the byte after its last
     */
    record Gap(long offset, long end) implements OutputRecord {
        @Override
        public long length() {
            return end - offset;
        }
    }

    /**
     * How the execution ended; always the last record.
     *
     * @param offset see {@link OutputRecord}
     * @param status the word of the protocol
     * @param durationMs how long it ran, queueing not counted, in milliseconds
     * @param exitCode of a process that ended by itself
     * @param signal number of the signal that ended the process
     * @param kernelRestarted whether its kernel was replaced
     * @param message what and why; may be empty
     * @param next what to do about it; null if the message says it, or there is nothing
     * @param warning what was asked for and not done, although the rest was; null if nothing
     * @param truncated whether the journal has dropped output; who followed from the start may have it all the same, and
     *     gets a {@link Gap} otherwise
     * @param tools of MCP servers, which it called
     */
    record Outcome(
            long offset,
            String status,
            double durationMs,
            @Nullable Integer exitCode,
            @Nullable Integer signal,
            boolean kernelRestarted,
            String message,
            @Nullable NextStep next,
            @Nullable String warning,
            boolean truncated,
            List<CalledTool> tools)
            implements OutputRecord {

        private static final int MAX_CHARS = InboundFrames.MAX_WORDS - 1;

        /** Keeps its own copy. */
        public Outcome {
            tools = List.copyOf(tools);
        }

        /** The same of one that called no tools. */
        public Outcome(
                long offset,
                String status,
                double durationMs,
                @Nullable Integer exitCode,
                @Nullable Integer signal,
                boolean kernelRestarted,
                String message,
                @Nullable NextStep next,
                @Nullable String warning,
                boolean truncated) {
            this(
                    offset,
                    status,
                    durationMs,
                    exitCode,
                    signal,
                    kernelRestarted,
                    message,
                    next,
                    warning,
                    truncated,
                    List.of());
        }

        /** The outcome in a record, or in an answer to attach; what is missing or odd has a harmless value. */
        public static Outcome parse(long offset, JsonNode json) {
            return new Outcome(
                    offset,
                    WholeTexts.beginning(json.path("status").asString(""), InboundFrames.MAX_NAME),
                    duration(json.path("duration_ms").asDouble(0)),
                    integer(json.path("exit_code")),
                    integer(json.path("signal")),
                    json.path("kernel_restarted").asBoolean(false),
                    words(json.path("message").asString("")),
                    Hints.parse(json.path("hint")),
                    json.path("warning").isString() ? words(json.path("warning").stringValue()) : null,
                    json.path("truncated").asBoolean(false),
                    CalledTool.parse(json.path("tools")));
        }

        /** They are told in our own name, and quote what the code wrote. */
        private static String words(String text) {
            return ForeignText.line(text, MAX_CHARS);
        }

        private static double duration(double milliseconds) {
            // A number may be written that no double holds.
            return Double.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
        }

        private static @Nullable Integer integer(JsonNode value) {
            return value.isIntegralNumber() && value.canConvertToInt() ? value.intValue() : null;
        }

        @Override
        public long length() {
            return 0;
        }
    }
}
