package dev.sandglass.gateway.output;

import static dev.sandglass.gateway.link.frame.OutputRecord.Stream.STDERR;
import static dev.sandglass.gateway.link.frame.OutputRecord.Stream.STDOUT;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CappedTextTest {

    private static final String MARK = "\n[Output truncated: exceeded 10 character limit]\n";

    @Test
    void exactlyTheLimitIsKept() {
        CappedText text = CappedText.headAndTail(10);
        text.append(STDOUT, "0123456789", 0);
        assertThat(text.text(STDOUT)).isEqualTo("0123456789");
        assertThat(text.cutOffset()).isEqualTo(CappedText.NOTHING_CUT);
    }

    @Test
    void oneMoreLosesTheFirstCharacterBehindTheHead() {
        CappedText text = CappedText.headAndTail(10);
        text.append(STDOUT, "0123456789X", 100);
        assertThat(text.text(STDOUT)).isEqualTo("01234" + MARK + "6789X");
        assertThat(text.cutOffset()).isEqualTo(105);
    }

    @Test
    void piecesGiveTheSameAsTheWhole() {
        String whole = "0123456789abcdefghij€😀klmn";
        Random random = new Random(3);
        for (int i = 0; i < 2_000; i++) {
            CappedText pieces = CappedText.headAndTail(10);
            CappedText once = CappedText.headAndTail(10);
            once.append(STDOUT, whole, 0);
            int at = 0;
            while (at < whole.length()) {
                int end = Math.min(whole.length(), at + 1 + random.nextInt(6));
                end += end < whole.length() && Character.isLowSurrogate(whole.charAt(end)) ? 1 : 0;
                pieces.append(STDOUT, whole.substring(at, end), Utf8Stream.length(whole, 0, at));
                at = end;
            }
            assertThat(pieces.text(STDOUT)).isEqualTo(once.text(STDOUT));
            assertThat(pieces.cutOffset()).isEqualTo(once.cutOffset());
        }
    }

    @Test
    void theCapIsSharedAndTheMarkIsWhereSomethingIsMissing() {
        CappedText text = CappedText.headAndTail(10);
        text.append(STDERR, "err", 0);
        text.append(STDOUT, "x".repeat(100), 3);
        assertThat(text.text(STDERR)).isEqualTo("err");
        assertThat(text.text(STDOUT)).isEqualTo("xx" + MARK + "xxxxx");
        assertThat(text.cutOffset()).isEqualTo(5);
    }

    @Test
    void theFirstMissingByteIsThatOfTheStreamThatLostFirst() {
        CappedText text = CappedText.headAndTail(4);
        text.append(STDOUT, "ab", 0);
        text.append(STDERR, "e", 2);
        text.append(STDOUT, "cd", 3);
        assertThat(text.cutOffset()).isEqualTo(2);
        assertThat(text.text(STDERR)).isEqualTo("\n[Output truncated: exceeded 4 character limit]\n");
        assertThat(text.text(STDOUT)).isEqualTo("abcd");
    }

    @Test
    void surrogatePairsAreNeverCut() {
        for (int limit = 0; limit < 12; limit++) {
            CappedText text = CappedText.headAndTail(limit);
            text.append(STDOUT, "😀".repeat(20), 0);
            String kept = text.text(STDOUT);
            assertThat(new String(kept.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                    .isEqualTo(kept);
            assertThat(text.cutOffset() % 4).isZero();
        }
    }

    @Test
    void offsetsCountBytesAndNotCharacters() {
        CappedText text = CappedText.headAndTail(4);
        text.append(STDOUT, "€€€€€", 0);
        assertThat(text.cutOffset()).isEqualTo(6);
    }

    @Test
    void aPageIsTheBeginningWithoutAMark() {
        CappedText page = CappedText.page(5);
        page.append(STDOUT, "01234", 50);
        assertThat(page.cutOffset()).isEqualTo(CappedText.NOTHING_CUT);
        page.append(STDOUT, "5", 55);
        assertThat(page.text(STDOUT)).isEqualTo("01234");
        assertThat(page.cutOffset()).isEqualTo(55);
    }

    @Test
    void aLimitOfZeroKeepsNothing() {
        CappedText text = CappedText.headAndTail(0);
        text.append(STDOUT, "x", 9);
        assertThat(text.text(STDOUT)).isEmpty();
        assertThat(text.cutOffset()).isEqualTo(9);
    }

    @Test
    void aSingleTextIsCutByTheSameRule() {
        assertThat(CappedText.cut("0123456789", 10)).isEqualTo("0123456789");
        assertThat(CappedText.cut("0123456789X", 10)).isEqualTo("01234" + MARK + "6789X");
    }
}
