package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.OutputRecord;
import dev.sandglass.gateway.link.OutputRecord.Stream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What an answer will hold of an execution's output, in bounded memory however much there is: text as a terminal would
 * leave it, pictures, the last value. Pure; one thread at a time.
 */
final class OutputCollector {

    private static final int MAX_IMAGES = 16;
    // MCP clients get them in one JSON text.
    private static final int MAX_IMAGE_BYTES = 6 * 1024 * 1024;

    // What hosts of models take; anything else would make them refuse the whole answer.
    private static final Set<String> SHOWN_IMAGES = Set.of("image/png", "image/jpeg", "image/gif", "image/webp");
    private static final String JSON = "application/json";

    private final int maxChars;
    private final boolean page;
    private final CappedText text;
    private final Map<Stream, Utf8Stream> decoders = new EnumMap<>(Stream.class);
    private final Map<Stream, Screen> screens = new EnumMap<>(Stream.class);
    private final List<Image> images = new ArrayList<>();
    private int imageBytes;
    private int imagesLeftOut;
    private @Nullable String result;
    private @Nullable JsonNode resultJson;
    private @Nullable ExecutionError error;
    private long position;
    private long leftOut = CappedText.NOTHING_CUT;
    private boolean truncated;

    private OutputCollector(CappedText text, int maxChars, long from, boolean page) {
        this.text = text;
        this.maxChars = maxChars;
        this.position = from;
        this.page = page;
        for (Stream stream : Stream.values()) {
            screens.put(stream, new Screen((shown, offset) -> text.append(stream, shown, offset)));
        }
    }

    /** For an answer that tells how it began and how it ended. */
    static OutputCollector headAndTail(int maxChars) {
        return new OutputCollector(CappedText.headAndTail(maxChars), maxChars, 0, false);
    }

    /** For an answer that is read on, page after page. */
    static OutputCollector page(int maxChars, long from) {
        return new OutputCollector(CappedText.page(maxChars), maxChars, from, true);
    }

    /**
     * Takes a record.
     *
     * @return the text that it adds to what the code printed, for whoever listens; mostly empty for other kinds
     */
    String add(OutputRecord record) {
        String printed =
                switch (record) {
                    case OutputRecord.Text piece -> print(piece);
                    case OutputRecord.Shown shown -> show(shown);
                    case OutputRecord.Raised raised -> raise(raised);
                    case OutputRecord.Gap gap -> skip(gap);
                    case OutputRecord.Outcome _ -> finish();
                };
        position = Math.max(position, record.end());
        return printed;
    }

    /** Whether this page holds no more. */
    boolean isFull() {
        return page && firstMissing() != CappedText.NOTHING_CUT;
    }

    /** Where what was taken ends, in bytes of the execution's output. */
    long position() {
        return position;
    }

    /** Where to read on: the first byte that is missing, else the end. */
    long nextOffset() {
        long missing = firstMissing();
        // Bytes that are no UTF-8 take more room as text: never read on behind what came.
        return missing == CappedText.NOTHING_CUT ? position : Math.min(missing, position);
    }

    /** What was held back, because it might have been written over, is text now. Nothing more comes. */
    void end() {
        screens.values().forEach(Screen::flush);
    }

    /** Takes no more: what follows is missing. */
    void stopHere() {
        if (firstMissing() == CappedText.NOTHING_CUT) {
            leftOut = position;
        }
    }

    /** Whether anything is missing. */
    boolean isTruncated() {
        return truncated || firstMissing() != CappedText.NOTHING_CUT;
    }

    String stdout() {
        return text.text(Stream.STDOUT);
    }

    String stderr() {
        return text.text(Stream.STDERR);
    }

    @Nullable
    String result() {
        return result;
    }

    /** The last value as data: if the code displayed it as JSON, and its text is not cut. */
    @Nullable
    JsonNode resultJson() {
        return resultJson;
    }

    @Nullable
    ExecutionError error() {
        return error;
    }

    List<Image> images() {
        return images;
    }

    /** How many pictures came that are not among {@link #images}. */
    int imagesLeftOut() {
        return imagesLeftOut;
    }

    private long firstMissing() {
        long cut = text.cutOffset();
        if (cut == CappedText.NOTHING_CUT || leftOut == CappedText.NOTHING_CUT) {
            return Math.max(cut, leftOut);
        }
        return Math.min(cut, leftOut);
    }

    private String print(OutputRecord.Text piece) {
        Utf8Stream decoder = decoders.computeIfAbsent(piece.stream(), _ -> new Utf8Stream());
        long start = piece.offset() - decoder.pending();
        String printed = decoder.decode(piece.utf8().bytes());
        if (page) {
            // A page goes on where the one before ended, so that nothing may be kept in order of another than its
            // place.
            screens.forEach((stream, screen) -> {
                if (stream != piece.stream()) {
                    screen.flush();
                }
            });
        }
        screen(piece.stream()).write(printed, start);
        return printed;
    }

    private String show(OutputRecord.Shown shown) {
        if (shown.mime().startsWith("image/")) {
            keepImage(shown);
            return "";
        }
        String shownText = utf8(shown.content().bytes());
        if (shown.result()) {
            // More than one only if the code asked for it (ast_node_interactivity).
            result = cut(result == null ? shownText : result + "\n" + shownText);
            resultJson = shown.mime().equals(JSON) && shownText.length() <= maxChars ? parsed(shownText) : null;
            return "";
        }
        String line = shownText.endsWith("\n") ? shownText : shownText + "\n";
        insert(line, shown.offset());
        return line;
    }

    private static @Nullable JsonNode parsed(String json) {
        try {
            return JsonMapper.shared().readTree(json);
        } catch (JacksonException notJson) {
            return null;
        }
    }

    /** Text that no stream said stands between what standard output said before and after it. */
    private void insert(String inserted, long offset) {
        screens.values().forEach(Screen::flush);
        text.append(Stream.STDOUT, inserted, offset);
    }

    private void keepImage(OutputRecord.Shown shown) {
        int size = shown.content().length();
        if (!SHOWN_IMAGES.contains(shown.mime())) {
            insert("[a picture of another kind than PNG, JPEG, GIF or WebP was left out]\n", shown.offset());
            return;
        }
        if (images.size() >= MAX_IMAGES || imageBytes + size > MAX_IMAGE_BYTES) {
            imagesLeftOut++;
            if (leftOut == CappedText.NOTHING_CUT) {
                leftOut = shown.offset();
            }
            return;
        }
        imageBytes += size;
        images.add(Image.of(shown));
    }

    private String raise(OutputRecord.Raised raised) {
        String traceback = utf8(raised.traceback().bytes());
        error = new ExecutionError(raised.name(), cut(raised.message()), cut(traceback));
        return "";
    }

    private String skip(OutputRecord.Gap gap) {
        truncated = true;
        String note = "\n[Output truncated: " + gap.length() + " bytes are no longer held]\n";
        insert(note, gap.end());
        return note;
    }

    private String finish() {
        StringBuilder rest = new StringBuilder();
        decoders.forEach((stream, decoder) -> {
            long start = position - decoder.pending();
            String last = decoder.finish();
            screen(stream).write(last, start);
            rest.append(last);
        });
        return rest.toString();
    }

    private Screen screen(Stream stream) {
        return Objects.requireNonNull(screens.get(stream));
    }

    private String cut(String whole) {
        String kept = CappedText.cut(whole, maxChars);
        truncated |= kept.length() != whole.length() || !kept.equals(whole);
        return kept;
    }

    private static String utf8(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
