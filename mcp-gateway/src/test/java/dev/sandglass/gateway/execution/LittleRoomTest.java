package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import dev.sandglass.gateway.output.AnswerShare;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.output.Shares;
import dev.sandglass.gateway.output.TextBytes;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Output for which there is less memory than an answer may take: it is left out, to be read on. */
class LittleRoomTest {

    private static final int PICTURE = 30_000;
    private static final int BASE64 = 40_000;
    private static final int CHARS = 100_000;

    private static OutputRecord text(long offset, int chars) {
        return new OutputRecord.Text(offset, Stream.STDOUT, Blob.utf8("x".repeat(chars)));
    }

    private static OutputRecord.Shown picture(long offset, boolean update) {
        return new OutputRecord.Shown(
                offset, false, "image/png", Blob.of(new byte[PICTURE]), null, new OutputRecord.Display("plot", update));
    }

    private static AnswerShare shareFor(long bytes) {
        return Shares.of(bytes - AnswerShare.ALWAYS);
    }

    @Test
    void aPictureHasRoomToItsLastByte() {
        OutputCollector fits = OutputCollector.headAndTail(CHARS, shareFor(BASE64));
        fits.add(picture(0, false));
        assertThat(fits.images()).hasSize(1);
        assertThat(fits.hasMore()).isFalse();

        OutputCollector shorter = OutputCollector.headAndTail(CHARS, shareFor(BASE64 - 1));
        shorter.add(picture(0, false));
        assertThat(shorter.images()).isEmpty();
        assertThat(shorter.imagesLeftOut()).isEqualTo(1);
        assertThat(shorter.nextOffset()).isZero();
    }

    @Test
    void aPictureWithoutRoomIsLeftToBeReadOnAndTextComes() {
        OutputCollector output = OutputCollector.headAndTail(CHARS, shareFor(BASE64 + 100));
        output.add(picture(0, false));
        output.add(picture(PICTURE, false));
        output.add(text(2 * PICTURE, 10));
        output.end();
        assertThat(output.images()).hasSize(1);
        assertThat(output.imagesLeftOut()).isEqualTo(1);
        assertThat(output.stdout()).isEqualTo("x".repeat(10));
        assertThat(output.nextOffset()).isEqualTo(PICTURE);
    }

    @Test
    void aNewVersionTakesOnlyWhatItIsLarger() {
        OutputCollector output = OutputCollector.headAndTail(CHARS, shareFor(BASE64));
        for (int i = 0; i < 5; i++) {
            output.add(picture((long) i * PICTURE, i > 0));
        }
        assertThat(output.images()).hasSize(1);
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void aPageEndsWhereItsRoomDoesAndTheNextGoesOn() {
        OutputCollector page = OutputCollector.page(CHARS, 0, shareFor(BASE64));
        page.add(picture(0, false));
        page.add(picture(PICTURE, false));
        assertThat(page.isFull()).isTrue();
        assertThat(page.nextOffset()).isEqualTo(PICTURE);

        OutputCollector next = OutputCollector.page(CHARS, PICTURE, shareFor(BASE64));
        next.add(picture(PICTURE, false));
        assertThat(next.images()).hasSize(1);
        assertThat(next.isFull()).isFalse();
    }

    @Test
    void textHasRoomToItsLastCharacter() {
        long bytes = (long) CHARS / 2 * TextBytes.OF_CHAR;
        OutputCollector fits = OutputCollector.page(CHARS, 0, shareFor(bytes));
        fits.add(text(0, CHARS / 2));
        fits.end();
        assertThat(fits.stdout()).hasSize(CHARS / 2);
        assertThat(fits.isFull()).isFalse();

        OutputCollector shorter = OutputCollector.page(CHARS, 0, shareFor(bytes - 1));
        shorter.add(text(0, CHARS / 2));
        assertThat(shorter.isFull()).isTrue();
        assertThat(shorter.nextOffset()).isZero();
    }

    @Test
    void textWithoutRoomIsToldWhoeverListensAndLeftToBeReadOn() {
        OutputCollector output = OutputCollector.headAndTail(CHARS, shareFor(20_000L * TextBytes.OF_CHAR));
        for (int i = 0; i < 5; i++) {
            assertThat(output.add(text(15_000L * i, 15_000))).hasSize(15_000);
        }
        output.end();
        assertThat(output.stdout()).isEqualTo("x".repeat(15_000));
        assertThat(output.hasMore()).isTrue();
        assertThat(output.nextOffset()).isEqualTo(15_000);
    }

    @Test
    void aFloodTakesNoMoreThanItsCap() {
        int cap = 10_000;
        OutputCollector output = OutputCollector.headAndTail(cap, shareFor(2L * cap * TextBytes.OF_CHAR));
        for (int i = 0; i < 100; i++) {
            output.add(text(10_000L * i, 10_000));
        }
        output.add(new OutputRecord.Text(1_000_000, Stream.STDOUT, Blob.utf8("the end")));
        output.end();
        assertThat(output.stdout()).endsWith("the end");
    }

    @Test
    void anErrorWithoutRoomIsLeftToBeReadOn() {
        OutputCollector output = OutputCollector.headAndTail(CHARS, shareFor(20_000));
        output.add(text(0, 100));
        output.add(new OutputRecord.Raised(100, "E", "m", Blob.utf8("t".repeat(50_000))));
        assertThat(output.error()).isNull();
        assertThat(output.nextOffset()).isEqualTo(100);
    }

    @Test
    void dataWithoutRoomIsTextAlone() {
        String json = "[" + "[],".repeat(1000) + "[]]";
        assertThat(valueOf(json, 20_000 + 48 * 1002)).satisfies(output -> {
            assertThat(output.resultJson()).hasSize(1001);
            assertThat(output.result()).isEqualTo(json);
        });
        assertThat(valueOf(json, 20_000)).satisfies(output -> {
            assertThat(output.resultJson()).isNull();
            assertThat(output.result()).isEqualTo(json);
            assertThat(output.hasMore()).isFalse();
        });
    }

    private static OutputCollector valueOf(String json, long bytes) {
        OutputCollector output = OutputCollector.headAndTail(CHARS, shareFor(bytes));
        output.add(new OutputRecord.Shown(0, true, "application/json", Blob.utf8(json), null, null));
        return output;
    }

    @Test
    void aPageThatGotNowhereIsRefusedAndOneThatGotFurtherIsNot() {
        AnswerShare share = shareFor(BASE64);
        OutputCollector first = OutputCollector.page(CHARS, 0, share);
        List.of(picture(0, false), picture(PICTURE, false)).forEach(first::add);
        var id = ExecutionId.random("a", "uid", 1);
        ExecutionResult further = Verdict.running(0).with(id, first);
        share.refuseIfEmpty(further.cut(), further.nextOffset(), 0);

        OutputCollector second = OutputCollector.page(CHARS, PICTURE, share);
        second.add(picture(PICTURE, false));
        ExecutionResult nowhere = Verdict.running(0).with(id, second);
        assertThatThrownBy(() -> share.refuseIfEmpty(nowhere.cut(), nowhere.nextOffset(), PICTURE))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageStartingWith("Rejected: ")
                .hasMessageContaining("read from offset 30000 again in a moment");
    }
}
