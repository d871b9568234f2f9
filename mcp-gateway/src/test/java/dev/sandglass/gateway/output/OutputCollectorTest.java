package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import java.util.Arrays;
import java.util.Base64;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class OutputCollectorTest {

    private static final OutputRecord.Outcome END =
            new OutputRecord.Outcome(0, "ok", 1, null, null, false, "", null, null, false);

    private final OutputCollector output = OutputCollector.headAndTail(100, Shares.wide());

    @Test
    void streamsAreKeptApart() {
        assertThat(output.add(text(0, Stream.STDOUT, "out"))).isEqualTo("out");
        assertThat(output.add(text(3, Stream.STDERR, "err"))).isEqualTo("err");
        output.end();
        assertThat(output.stdout()).isEqualTo("out");
        assertThat(output.stderr()).isEqualTo("err");
        assertThat(output.nextOffset()).isEqualTo(6);
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void aCharacterThatIsCutBetweenPiecesIsWhole() {
        byte[] euro = Blob.utf8("€").bytes();
        assertThat(output.add(new OutputRecord.Text(0, Stream.STDOUT, Blob.of(new byte[] {euro[0]}))))
                .isEmpty();
        assertThat(output.add(new OutputRecord.Text(1, Stream.STDOUT, Blob.of(new byte[] {euro[1], euro[2]}))))
                .isEqualTo("€");
        output.add(new OutputRecord.Text(3, Stream.STDOUT, Blob.of(new byte[] {euro[0]})));
        // Who listens was told of all bytes before, and each time must be told of more.
        assertThat(output.add(END)).isEmpty();
        output.end();
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
        output.add(new OutputRecord.Shown(0, false, "image/png", Blob.of(new byte[] {1, 2, 3}), null, null));
        assertThat(output.images()).containsExactly(new Image("image/png", "AQID", 3, null));
        assertThat(output.nextOffset()).isEqualTo(3);
    }

    @Test
    void aScaledPictureNamesItsFullSize() {
        var original = new OutputRecord.Original("/workspace/p.png", 5_000_000, 4000, 3000);
        output.add(new OutputRecord.Shown(0, false, "image/jpeg", Blob.of(new byte[] {1, 2, 3, 4}), original, null));
        assertThat(output.images())
                .containsExactly(new Image(
                        "image/jpeg", "AQIDBA==", 4, new Image.Full("/workspace/p.png", 5_000_000, 4000, 3000)));
    }

    @Test
    void aPictureThatNoHostTakesIsLeftOut() {
        output.add(shown(0, false, "image/svg+xml", "<svg/>"));
        output.end();
        assertThat(output.images()).isEmpty();
        assertThat(output.stdout()).isEqualTo("[a picture of another kind than PNG, JPEG, GIF or WebP was left out]\n");
    }

    @Test
    void jsonIsDataAsLongAsItFits() {
        String exact = "[\"" + "x".repeat(96) + "\"]";
        output.add(shown(0, true, "application/json", exact));
        assertThat(output.resultJson()).isEqualTo(JsonMapper.shared().readTree(exact));
        assertThat(output.result()).isEqualTo(exact);
        assertThat(output.hasMore()).isFalse();

        OutputCollector other = OutputCollector.headAndTail(100, Shares.wide());
        other.add(shown(0, true, "application/json", "[\"" + "x".repeat(97) + "\"]"));
        assertThat(other.resultJson()).isNull();
        assertThat(other.hasMore()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "NaN", "[1,]"})
    void brokenJsonIsText(String broken) {
        output.add(shown(0, true, "application/json", broken));
        assertThat(output.resultJson()).isNull();
        assertThat(output.result()).isEqualTo(broken);
    }

    @Test
    void deepJsonIsText() {
        OutputCollector wide = OutputCollector.headAndTail(200_000, Shares.wide());
        wide.add(shown(0, true, "application/json", "[".repeat(100_000) + "]".repeat(100_000)));
        assertThat(wide.resultJson()).isNull();
    }

    @Test
    void aProgressBarIsItsLastStateAndListenersHearAll() {
        assertThat(output.add(text(0, Stream.STDERR, "\r 0%"))).isEqualTo("\r 0%");
        output.add(text(4, Stream.STDOUT, "between\n"));
        assertThat(output.add(text(12, Stream.STDERR, "\r50%\r99%\u001b[0m"))).isEqualTo("\r50%\r99%\u001b[0m");
        output.end();
        assertThat(output.stderr()).isEqualTo("99%");
        assertThat(output.stdout()).isEqualTo("between\n");
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void statesThatWereWrittenOverDoNotCountAsCharacters() {
        long offset = 0;
        for (int i = 0; i < 1000; i++) {
            String state = "\r%3d%%".formatted(i / 10);
            output.add(text(offset, Stream.STDERR, state));
            offset += state.length();
        }
        output.end();
        assertThat(output.stderr()).isEqualTo(" 99%");
        assertThat(output.hasMore()).isFalse();
        assertThat(output.nextOffset()).isEqualTo(offset);
    }

    @Test
    void shownTextComesAfterWhatWasPrintedBefore() {
        output.add(text(0, Stream.STDOUT, "no end of line: "));
        output.add(shown(16, false, "text/plain", "table"));
        output.add(text(21, Stream.STDOUT, "after"));
        output.end();
        assertThat(output.stdout()).isEqualTo("no end of line: table\nafter");
    }

    @Test
    void pagesOfBothStreamsMissNothing() {
        OutputCollector page = OutputCollector.page(10, 0, Shares.wide());
        page.add(text(0, Stream.STDOUT, "12345"));
        page.add(text(5, Stream.STDERR, "67890"));
        page.add(text(10, Stream.STDOUT, "abc"));
        page.end();
        assertThat(page.stdout() + page.stderr()).isEqualTo("1234567890");
        assertThat(page.nextOffset()).isEqualTo(10);
    }

    @Test
    void picturesBeyondTheBoundAreLeftToBeReadOn() {
        for (int i = 0; i < 20; i++) {
            output.add(shown(10L * i, false, "image/png", "0123456789"));
        }
        assertThat(output.images()).hasSize(16);
        assertThat(output.imagesLeftOut()).isEqualTo(4);
        assertThat(output.hasMore()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(160);
    }

    @Test
    void picturesAreBoundedInBytesToo() {
        int half = 3 * 1024 * 1024;
        for (int i = 0; i < 3; i++) {
            output.add(
                    new OutputRecord.Shown((long) half * i, false, "image/png", Blob.of(new byte[half]), null, null));
        }
        assertThat(output.images()).hasSize(2);
        assertThat(output.imagesLeftOut()).isEqualTo(1);
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
        assertThat(output.hasMore()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(50);
    }

    @Test
    void aGapIsToldWhereItIs() {
        output.add(text(0, Stream.STDOUT, "a"));
        output.add(new OutputRecord.Gap(1, 501));
        output.add(text(501, Stream.STDOUT, "b"));
        output.end();
        assertThat(output.stdout()).isEqualTo("a\n[Output truncated: 500 bytes are no longer held]\nb");
        assertThat(output.hasMore()).isFalse();
        assertThat(output.lostBytes()).isEqualTo(500);
        assertThat(output.nextOffset()).isEqualTo(502);
    }

    @Test
    void pagesReadOneAfterAnotherAreTheWhole() {
        String whole = "0123456789€abcdefghij".repeat(10);
        byte[] bytes = Blob.utf8(whole).bytes();
        StringBuilder read = new StringBuilder();
        long from = 0;
        while (from < bytes.length) {
            OutputCollector page = OutputCollector.page(7, from, Shares.wide());
            page.add(new OutputRecord.Text(
                    from, Stream.STDOUT, Blob.of(java.util.Arrays.copyOfRange(bytes, (int) from, bytes.length))));
            page.end();
            assertThat(page.isFull()).isEqualTo(page.hasMore());
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
        assertThat(output.hasMore()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(3);
    }

    @Tag("slow")
    @Test
    void hundredMegabytesTakeLittleMemory() {
        OutputCollector flood = OutputCollector.headAndTail(20_000, Shares.wide());
        Blob piece = Blob.utf8("x".repeat(64 * 1024));
        long offset = 0;
        for (int i = 0; i < 1600; i++) {
            flood.add(new OutputRecord.Text(offset, Stream.STDOUT, piece));
            offset += piece.length();
        }
        flood.end();
        assertThat(flood.stdout()).hasSize(20_000 + 52);
        assertThat(flood.nextOffset()).isEqualTo(10_000);
    }

    private static OutputRecord text(long offset, Stream stream, String text) {
        return new OutputRecord.Text(offset, stream, Blob.utf8(text));
    }

    private static OutputRecord shown(long offset, boolean result, String mime, String content) {
        return new OutputRecord.Shown(offset, result, mime, Blob.utf8(content), null, null);
    }

    @Test
    void whatIsNoUtf8IsNeverReadOnBehindItsEnd() {
        OutputCollector collector = OutputCollector.page(50, 0, Shares.wide());
        byte[] bytes = new byte[100];
        Arrays.fill(bytes, (byte) 0xFF);
        collector.add(new OutputRecord.Text(0, Stream.STDOUT, Blob.of(bytes)));
        collector.end();
        assertThat(collector.isFull()).isTrue();
        assertThat(collector.nextOffset()).isEqualTo(100);
    }
}
