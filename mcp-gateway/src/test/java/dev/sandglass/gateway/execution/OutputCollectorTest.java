package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.Blob;
import dev.sandglass.gateway.link.OutputRecord;
import dev.sandglass.gateway.link.OutputRecord.Stream;
import java.util.Base64;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class OutputCollectorTest {

    private static final OutputRecord.Outcome END = new OutputRecord.Outcome(0, "ok", 1, null, null, false, "", false);

    private final OutputCollector output = OutputCollector.headAndTail(100);

    @Test
    void streamsAreKeptApart() {
        assertThat(output.add(text(0, Stream.STDOUT, "out"))).isEqualTo("out");
        assertThat(output.add(text(3, Stream.STDERR, "err"))).isEqualTo("err");
        assertThat(output.stdout()).isEqualTo("out");
        assertThat(output.stderr()).isEqualTo("err");
        assertThat(output.nextOffset()).isEqualTo(6);
        assertThat(output.isTruncated()).isFalse();
    }

    @Test
    void aCharacterThatIsCutBetweenPiecesIsWhole() {
        byte[] euro = Blob.utf8("€").bytes();
        assertThat(output.add(new OutputRecord.Text(0, Stream.STDOUT, Blob.of(new byte[] {euro[0]}))))
                .isEmpty();
        assertThat(output.add(new OutputRecord.Text(1, Stream.STDOUT, Blob.of(new byte[] {euro[1], euro[2]}))))
                .isEqualTo("€");
        output.add(new OutputRecord.Text(3, Stream.STDOUT, Blob.of(new byte[] {euro[0]})));
        assertThat(output.add(END)).isEqualTo("\ufffd");
        assertThat(output.stdout()).isEqualTo("€\ufffd");
    }

    @Test
    void shownTextIsALineOfOutputAndAResultIsNot() {
        assertThat(output.add(shown(0, false, "text/plain", "table"))).isEqualTo("table\n");
        assertThat(output.add(shown(5, true, "text/plain", "2"))).isEmpty();
        output.add(shown(6, true, "text/plain", "3"));
        assertThat(output.stdout()).isEqualTo("table\n");
        assertThat(output.result()).isEqualTo("2\n3");
    }

    @Test
    void picturesAreBase64() {
        output.add(new OutputRecord.Shown(0, false, "image/png", Blob.of(new byte[] {1, 2, 3})));
        assertThat(output.images()).containsExactly(new Image("image/png", "AQID"));
        assertThat(output.nextOffset()).isEqualTo(3);
    }

    @Test
    void picturesBeyondTheBoundAreLeftToBeReadOn() {
        for (int i = 0; i < 20; i++) {
            output.add(shown(10L * i, false, "image/png", "0123456789"));
        }
        assertThat(output.images()).hasSize(16);
        assertThat(output.isTruncated()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(160);
    }

    @Test
    void picturesAreBoundedInBytesToo() {
        int half = 3 * 1024 * 1024;
        for (int i = 0; i < 3; i++) {
            output.add(new OutputRecord.Shown((long) half * i, false, "image/png", Blob.of(new byte[half])));
        }
        assertThat(output.images()).hasSize(2);
        assertThat(output.images().getFirst().base64())
                .hasSize(Base64.getEncoder().encodeToString(new byte[half]).length());
        assertThat(output.nextOffset()).isEqualTo(2L * half);
    }

    @Test
    void errorsAndResultsAreCutInTheirMiddle() {
        output.add(new OutputRecord.Raised(0, "E", "m", Blob.utf8("t".repeat(200))));
        output.add(shown(200, true, "text/plain", "r".repeat(200)));
        ExecutionError error = Objects.requireNonNull(output.error());
        assertThat(error.traceback()).hasSize(100 + 50).contains("exceeded 100 character limit");
        assertThat(output.result()).hasSize(100 + 50);
        assertThat(output.isTruncated()).isTrue();
    }

    @Test
    void aGapIsToldWhereItIs() {
        output.add(text(0, Stream.STDOUT, "a"));
        output.add(new OutputRecord.Gap(1, 501));
        output.add(text(501, Stream.STDOUT, "b"));
        assertThat(output.stdout()).isEqualTo("a\n[Output truncated: 500 bytes are no longer held]\nb");
        assertThat(output.isTruncated()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(502);
    }

    @Test
    void pagesReadOneAfterAnotherAreTheWhole() {
        String whole = "0123456789€abcdefghij".repeat(10);
        byte[] bytes = Blob.utf8(whole).bytes();
        StringBuilder read = new StringBuilder();
        long from = 0;
        while (from < bytes.length) {
            OutputCollector page = OutputCollector.page(7, from);
            page.add(new OutputRecord.Text(
                    from, Stream.STDOUT, Blob.of(java.util.Arrays.copyOfRange(bytes, (int) from, bytes.length))));
            assertThat(page.isFull()).isEqualTo(page.isTruncated());
            read.append(page.stdout());
            assertThat(page.nextOffset()).isGreaterThan(from);
            from = page.nextOffset();
        }
        assertThat(read).hasToString(whole);
    }

    @Test
    void whatIsStoppedGoesOnWhereItStopped() {
        output.add(text(0, Stream.STDOUT, "abc"));
        output.stopHere();
        assertThat(output.isTruncated()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(3);
    }

    @Test
    void hundredMegabytesTakeLittleMemory() {
        OutputCollector flood = OutputCollector.headAndTail(20_000);
        Blob piece = Blob.utf8("x".repeat(64 * 1024));
        long offset = 0;
        for (int i = 0; i < 1600; i++) {
            flood.add(new OutputRecord.Text(offset, Stream.STDOUT, piece));
            offset += piece.length();
        }
        assertThat(flood.stdout()).hasSize(20_000 + 52);
        assertThat(flood.nextOffset()).isEqualTo(10_000);
    }

    private static OutputRecord text(long offset, Stream stream, String text) {
        return new OutputRecord.Text(offset, stream, Blob.utf8(text));
    }

    private static OutputRecord shown(long offset, boolean result, String mime, String content) {
        return new OutputRecord.Shown(offset, result, mime, Blob.utf8(content));
    }
}
