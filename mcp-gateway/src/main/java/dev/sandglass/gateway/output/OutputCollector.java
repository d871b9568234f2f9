package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What an answer will hold of an execution's output, in bounded memory however much there is: text as a terminal would
 * leave it, pictures, the last value, the exception. Pure; one thread at a time.
 *
 * <p>Whatever is cut has its place in the output, so that reading on from {@link #nextOffset}, page after page, gives all
 * of it: each page gets further, and what is within a record goes on there.
 */
public final class OutputCollector {

    // The supervisor's bound in code points. A message has no offset: cut, it could not be read on.
    private static final int MESSAGE_CHARS = 2 * 4096;

    private final int maxChars;
    private final boolean page;
    private final long from;
    private CappedText text;
    private final LastValue result;
    private CappedText traceback;
    private final Map<Stream, Utf8Stream> decoders = new EnumMap<>(Stream.class);
    private final Map<Stream, Screen> screens = new EnumMap<>(Stream.class);
    private final TextBytes textBytes;
    private final Pictures pictures;
    private Displays displays;
    private boolean clearsFirst; // what comes next takes the place of what came before
    private @Nullable ExecutionError raised;
    private boolean closed;
    private long position;
    private long leftOut = CappedText.NOTHING_CUT;
    private long lostBytes;

    private OutputCollector(int maxChars, long from, boolean page, AnswerShare share) {
        this.textBytes = new TextBytes(maxChars, share);
        this.pictures = new Pictures(share);
        this.maxChars = maxChars;
        this.from = from;
        this.position = from;
        this.page = page;
        this.text = capped();
        this.displays = new Displays(text, pictures);
        this.result = new LastValue(capped(), share);
        this.traceback = capped();
        putScreens();
    }

    private void putScreens() {
        for (Stream stream : Stream.values()) {
            screens.put(stream, new Screen((shown, offset, rewritten) -> say(stream, shown, offset, rewritten)));
        }
    }

    /** For an answer that tells how it began and how it ended. */
    public static OutputCollector headAndTail(int maxChars, AnswerShare share) {
        return new OutputCollector(maxChars, 0, false, share);
    }

    /** For an answer that is read on, page after page. */
    public static OutputCollector page(int maxChars, long from, AnswerShare share) {
        return new OutputCollector(maxChars, from, true, share);
    }

    /**
     * Takes a record.
     *
     * @return the text that it adds to what the code printed, for whoever listens; mostly empty for other kinds
     */
    public String add(OutputRecord record) {
        if (page && !(record instanceof OutputRecord.Text)) {
            // What was held back stands before this, and may fill the page.
            flush();
            if (isFull()) {
                return "";
            }
        }
        if (!closed && !textBytes.takeFor(record, chars())) {
            stopHere();
            closed = true;
        }
        String printed = closed ? passOn(record) : take(record);
        position = Math.max(position, record.end());
        return printed;
    }

    private String take(OutputRecord record) {
        if (clearsFirst && record.length() > 0 && !(record instanceof OutputRecord.Gap)) {
            clear();
        }
        String printed =
                switch (record) {
                    case OutputRecord.Text piece -> print(piece);
                    case OutputRecord.Shown shown -> show(shown);
                    case OutputRecord.Cleared cleared -> clear(cleared);
                    case OutputRecord.Raised raised -> raise(raised);
                    case OutputRecord.Gap gap -> skip(gap);
                    case OutputRecord.Outcome _ -> finish();
                };
        textBytes.hold(chars());
        return printed;
    }

    /** What was printed, of which the answer has no room to keep anything. */
    private String passOn(OutputRecord record) {
        return record instanceof OutputRecord.Text piece && !page
                ? decoder(piece).decode(piece.utf8().bytes())
                : "";
    }

    private long chars() {
        return (long) text.chars() + result.chars() + traceback.chars();
    }

    /** Whether this page holds no more. */
    public boolean isFull() {
        return page && firstMissing() != CappedText.NOTHING_CUT;
    }

    /** Where what was taken ends, in bytes of the execution's output. */
    public long position() {
        return position;
    }

    /** Where to read on: the first byte that is missing, else the end. */
    public long nextOffset() {
        long missing = firstMissing();
        // Bytes that are no UTF-8 take more room as text: never read on behind what came.
        return missing == CappedText.NOTHING_CUT ? position : Math.min(missing, position);
    }

    /** Nothing more comes. */
    public void end() {
        flush();
    }

    /** Takes no more: what follows is missing. */
    public void stopHere() {
        if (firstMissing() == CappedText.NOTHING_CUT) {
            leftOut = position;
        }
    }

    /** Whether anything is missing that the supervisor holds, from {@link #nextOffset} on, while it lives. */
    public boolean hasMore() {
        return firstMissing() != CappedText.NOTHING_CUT;
    }

    /** How many bytes are missing for good. */
    public long lostBytes() {
        return lostBytes;
    }

    public String stdout() {
        return text.text(Stream.STDOUT);
    }

    public String stderr() {
        return text.text(Stream.STDERR);
    }

    @Nullable
    public String result() {
        return result.text();
    }

    /** The last value as data; see {@link LastValue#data}. */
    @Nullable
    public JsonNode resultJson() {
        return result.data();
    }

    @Nullable
    public ExecutionError error() {
        return raised == null
                ? null
                : new ExecutionError(raised.name(), raised.message(), traceback.text(Stream.STDOUT));
    }

    public List<Image> images() {
        return pictures.images();
    }

    /** How many pictures came that are not among {@link #images}. */
    public int imagesLeftOut() {
        return pictures.leftOut();
    }

    private CappedText capped() {
        return page ? CappedText.page(maxChars) : CappedText.headAndTail(maxChars);
    }

    private long firstMissing() {
        return LongStream.of(text.cutOffset(), result.cutOffset(), traceback.cutOffset(), leftOut)
                .filter(offset -> offset != CappedText.NOTHING_CUT)
                .min()
                .orElse(CappedText.NOTHING_CUT);
    }

    /** What was held back, because it might have been written over, is text now. */
    private void flush() {
        screens.values().forEach(Screen::flush);
    }

    private void say(Stream stream, String shown, long offset, boolean rewritten) {
        if (rewritten) {
            text.appendWhole(stream, shown, offset);
        } else {
            text.append(stream, shown, offset);
        }
    }

    private String print(OutputRecord.Text piece) {
        Utf8Stream decoder = decoder(piece);
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
        if (Pictures.isPicture(shown)) {
            keepPicture(shown);
            return "";
        }
        RecordPart part = RecordPart.of(shown.offset(), shown.content(), from);
        if (shown.result()) {
            result.add(shown, part);
            return "";
        }
        return part.text().isEmpty() ? "" : display(shown, part);
    }

    private String clear(OutputRecord.Cleared cleared) {
        clearsFirst = cleared.later();
        if (!clearsFirst) {
            clear();
        }
        return "";
    }

    /** The answer tells nothing of what was printed and displayed before, and counts all the same what is lost. */
    private void clear() {
        clearsFirst = false;
        putScreens();
        text = capped();
        pictures.clear();
        displays = new Displays(text, pictures);
        leftOut = CappedText.NOTHING_CUT;
    }

    /** Text that no stream said stands between what standard output said before and after it, on lines of its own. */
    private String display(OutputRecord.Shown shown, RecordPart part) {
        String lines = part.text().endsWith("\n") ? part.text() : part.text() + "\n";
        if (!displays.renew(shown, lines)) {
            flush();
            displays.append(shown, part, lines);
        }
        return lines;
    }

    private void keepPicture(OutputRecord.Shown shown) {
        String objection = Pictures.objection(shown);
        if (!objection.isEmpty()) {
            note(objection, shown.offset());
        } else if (!displays.take(shown) && leftOut == CappedText.NOTHING_CUT) {
            leftOut = shown.offset();
        }
    }

    private String raise(OutputRecord.Raised newest) {
        RecordPart part = RecordPart.of(newest.offset(), newest.traceback(), from);
        raised = new ExecutionError(newest.name(), CappedText.cut(newest.message(), MESSAGE_CHARS), "");
        traceback = capped();
        traceback.append(Stream.STDOUT, part.text(), part.offset());
        return "";
    }

    private String skip(OutputRecord.Gap gap) {
        String note = "\n[Output truncated: " + gap.length() + " bytes are no longer held]\n";
        note(note, gap.offset());
        // A page without room for the note leaves the gap to the next one.
        lostBytes += isFull() ? 0 : gap.length();
        return note;
    }

    private void note(String words, long offset) {
        flush();
        text.appendWhole(Stream.STDOUT, words, offset);
    }

    /** What the end cut short is for the answer alone: who listens was told of its bytes, and hears of more only. */
    private String finish() {
        decoders.forEach((stream, decoder) -> {
            long start = position - decoder.pending();
            screen(stream).write(decoder.finish(), start);
        });
        return "";
    }

    private Utf8Stream decoder(OutputRecord.Text piece) {
        return decoders.computeIfAbsent(piece.stream(), _ -> new Utf8Stream());
    }

    private Screen screen(Stream stream) {
        return Objects.requireNonNull(screens.get(stream));
    }
}
