package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.output.Utf8Stream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What the supervisor's journal gives a reader from an offset on; see {@code journal.py}, {@code locate} and {@code read}. */
final class JournalModel {

    private final List<OutputRecord> records = new ArrayList<>();
    private final List<OutputRecord> dropped = new ArrayList<>();
    private long end;

    void print(Stream stream, String text) {
        add(new OutputRecord.Text(end, stream, Blob.utf8(text)));
    }

    void show(boolean result, String mime, Blob content) {
        add(new OutputRecord.Shown(end, result, mime, content, null, null));
    }

    void raise(String traceback) {
        add(new OutputRecord.Raised(end, "E", "m", Blob.utf8(traceback)));
    }

    private void add(OutputRecord record) {
        records.add(record);
        end = record.end();
    }

    /** From now on the record of that number is not held any more. */
    void drop(int number) {
        dropped.add(records.get(number));
    }

    long end() {
        return end;
    }

    /** Gives a reader all from an offset on, until he has enough. */
    void feed(OutputCollector reader, long from) {
        long at = from;
        for (OutputRecord record : records) {
            boolean past = from > record.offset() && from >= record.end();
            if (past || dropped.contains(record) || reader.isFull()) {
                continue;
            }
            if (at < record.offset()) {
                reader.add(new OutputRecord.Gap(at, record.offset()));
                if (reader.isFull()) {
                    continue;
                }
            }
            reader.add(record instanceof OutputRecord.Text text ? rest(text, from) : record);
            at = record.end();
        }
        if (!reader.isFull() && at < end) {
            reader.add(new OutputRecord.Gap(at, end));
        }
        if (!reader.isFull()) {
            reader.add(new OutputRecord.Outcome(end, "ok", 1, null, null, false, "", null, null, false));
        }
        reader.end();
    }

    /** Only of text the supervisor gives a part: from the code point on that covers the offset. */
    private static OutputRecord rest(OutputRecord.Text text, long from) {
        byte[] bytes = text.utf8().bytes();
        int start = Utf8Stream.codePointStart(bytes, Math.max(0, from - text.offset()));
        byte[] rest = new byte[bytes.length - start];
        System.arraycopy(bytes, start, rest, 0, rest.length);
        return new OutputRecord.Text(text.offset() + start, text.stream(), Blob.of(rest));
    }

    @Override
    public String toString() {
        var words = new StringBuilder();
        for (OutputRecord record : records) {
            String content =
                    switch (record) {
                        case OutputRecord.Text text -> text.stream() + " " + quoted(text.utf8());
                        case OutputRecord.Shown shown -> shown.mime() + " " + quoted(shown.content());
                        case OutputRecord.Raised raised -> "raised " + quoted(raised.traceback());
                        case OutputRecord.Gap _, OutputRecord.Cleared _, OutputRecord.Outcome _ -> "";
                    };
            words.append(dropped.contains(record) ? "dropped " : "")
                    .append(content)
                    .append(", ");
        }
        return words.toString();
    }

    private static String quoted(Blob utf8) {
        return "'"
                + new String(utf8.bytes(), StandardCharsets.UTF_8)
                        .replace("\n", "\\n")
                        .replace("\r", "\\r")
                + "'";
    }
}
