package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever the code prints, however it was cut on its way: the same text, within its bounds, and no half characters. */
class TextFuzzTest {

    private static final int MOST_CHARS = 6000;

    /** Output in pieces, as records have them. */
    private static List<List<byte[]>> corpus() {
        return java.util.stream.Stream.of(
                        List.of("plain text\n", "in two pieces\n"),
                        List.of("é€😀", "\u001b[1mbold\u001b[0m\n", "\u001b]0;title\u0007after\r\n"),
                        List.of(" 0%|    |\r", " 50%|##  |\r", "\u001b[2K\r100%|####|\n", "done\n"),
                        List.of("a\b\bxy\u001b[5Gz\u001b[K", "\r\n\r\n", "\u009b1mred"),
                        List.of("x".repeat(Screen.MAX_LINE - 1), "y\r", "\nz\n"),
                        List.of("line\n".repeat(1000), "é".repeat(5000), "\r😀"))
                .map(texts -> texts.stream().map(TextFuzzTest::bytes).toList())
                .toList();
    }

    @Test
    void anyBytesInAnyPieces() throws IOException {
        Fuzz.attack(FrameMutator::new, "utf8", corpus(), pieces -> {
            var stream = new Utf8Stream();
            var text = new StringBuilder();
            for (byte[] piece : pieces) {
                text.append(stream.decode(piece));
                assertThat(stream.pending()).isBetween(0, 3);
            }
            text.append(stream.finish());
            assertThat(text.toString()).isEqualTo(decoded(pieces));
        });
    }

    @Test
    void anyTerminalCodesInAnyPieces() throws IOException {
        Fuzz.attack(FrameMutator::new, "screen", corpus(), pieces -> {
            String whole = decoded(pieces);
            String shown = shown(List.of(whole));
            assertThat(shown(texts(pieces))).isEqualTo(shown);
            assertThat(shown(whole.codePoints().mapToObj(Character::toString).toList()))
                    .isEqualTo(shown);
            assertThat(shown.length()).isLessThanOrEqualTo(2 * whole.length() + Screen.WIDTH * columns(whole));
            isWhole(shown);
        });
    }

    @Tag("slow")
    @Test
    void anyTextUnderACap() throws IOException {
        Fuzz.attack(FrameMutator::new, "capped", corpus(), pieces -> {
            String whole = decoded(pieces);
            for (int limit : new int[] {1, 2, 7, 100, whole.length(), whole.length() + 1}) {
                capped(CappedText.headAndTail(Math.max(1, limit)), texts(pieces), Math.max(1, limit));
                capped(CappedText.page(Math.max(1, limit)), texts(pieces), Math.max(1, limit));
            }
        });
    }

    @Test
    void anyRecords() throws IOException {
        Fuzz.attack(FrameMutator::new, "collector", corpus(), pieces -> {
            for (OutputCollector collector : List.of(
                    OutputCollector.headAndTail(MOST_CHARS, Shares.wide()),
                    OutputCollector.page(MOST_CHARS, 0, Shares.wide()))) {
                long offset = 0;
                for (int i = 0; i < pieces.size(); i++) {
                    OutputRecord record = record(i + pieces.size(), offset, Blob.of(pieces.get(i)));
                    isWhole(collector.add(record));
                    offset = record.end();
                }
                collector.end();
                assertThat(collector.nextOffset()).isBetween(0L, offset);
                assertThat(collector.stdout().length() + collector.stderr().length())
                        .isLessThan(MOST_CHARS + 200);
                isWhole(collector.stdout());
                isWhole(collector.stderr());
                isWhole(String.valueOf(collector.result()));
            }
        });
    }

    @Test
    void anyExecutionId() throws IOException {
        List<List<byte[]>> ids = java.util.stream.Stream.of(
                        "default.0b8a6a6e-51a8-4f5c-9a8e-0f6f5f9f2f11.1.abcdefghijklmnop",
                        "T_1.u.2147483647.2345672345672345")
                .map(id -> List.of(bytes(id)))
                .toList();
        Fuzz.attack(FrameMutator::new, "id", ids, pieces -> {
            String text = decoded(pieces);
            ExecutionId.parse(text).ifPresent(id -> {
                assertThat(id).hasToString(text);
                assertThat(text).hasSizeLessThanOrEqualTo(ExecutionId.MAX_LENGTH);
            });
        });
    }

    private static OutputRecord record(int kind, long offset, Blob blob) {
        return switch (kind % 9) {
            case 0 -> new OutputRecord.Text(offset, Stream.STDERR, blob);
            case 1 -> new OutputRecord.Shown(offset, true, "text/plain", blob, null, null);
            case 2 -> new OutputRecord.Shown(offset, true, "application/json", blob, null, null);
            case 3 -> new OutputRecord.Raised(offset, "E", "m", blob);
            case 4 -> new OutputRecord.Gap(offset, offset + blob.length());
            case 5, 6 -> {
                var display = new OutputRecord.Display("id", kind % 9 == 6);
                yield new OutputRecord.Shown(offset, false, "text/plain", blob, null, display);
            }
            default -> new OutputRecord.Text(offset, Stream.STDOUT, blob);
        };
    }

    /** What is kept begins as the whole does, up to where something was dropped, and ends as it does. */
    private static void capped(CappedText capped, List<String> texts, int limit) {
        long offset = 0;
        for (String text : texts) {
            capped.append(Stream.STDOUT, text, offset);
            offset += bytes(text).length;
        }
        String whole = String.join("", texts);
        String kept = capped.text(Stream.STDOUT);
        isWhole(kept);
        if (capped.cutOffset() == CappedText.NOTHING_CUT) {
            assertThat(kept).isEqualTo(whole);
            return;
        }
        String head = new String(bytes(whole), 0, (int) capped.cutOffset(), StandardCharsets.UTF_8);
        assertThat(whole.length()).isGreaterThan(limit - 2);
        assertThat(kept).startsWith(head);
        String[] parts =
                kept.substring(head.length()).split("\n\\[Output truncated: exceeded \\d+ character limit]\n", 2);
        assertThat(whole).endsWith(parts[parts.length - 1]);
        assertThat(head.length() + parts[parts.length - 1].length()).isLessThanOrEqualTo(Math.max(limit, 2));
    }

    private static String shown(List<String> texts) {
        var shown = new StringBuilder();
        var screen = new Screen((text, _, _) -> shown.append(text));
        long offset = 0;
        for (String text : texts) {
            screen.write(text, offset);
            offset += bytes(text).length;
        }
        screen.flush();
        return shown.toString();
    }

    /** How many sequences there may be that move to a column far to the right. */
    private static int columns(String text) {
        return (int) text.chars().filter(c -> c == 'G').count();
    }

    private static List<String> texts(List<byte[]> pieces) {
        var stream = new Utf8Stream();
        List<String> texts =
                new java.util.ArrayList<>(pieces.stream().map(stream::decode).toList());
        texts.add(stream.finish());
        return texts;
    }

    private static String decoded(List<byte[]> pieces) {
        var all = new ByteArrayOutputStream();
        pieces.forEach(all::writeBytes);
        return all.toString(StandardCharsets.UTF_8);
    }

    private static void isWhole(String text) {
        assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(text))
                .as("half a character")
                .isTrue();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
