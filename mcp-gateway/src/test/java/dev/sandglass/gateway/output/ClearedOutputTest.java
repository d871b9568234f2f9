package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the code takes back is not in the answer; whoever listened has heard it. */
class ClearedOutputTest {

    private OutputCollector output = OutputCollector.headAndTail(100, Shares.wide());
    private long end;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofManyRoundsTheLastIsAnswered(boolean wait) {
        for (int round = 0; round < 6; round++) {
            clear(wait);
            assertThat(print("round " + round + "\n")).as("what listeners hear").isEqualTo("round " + round + "\n");
            show("image/png", "p".repeat(round + 1));
        }
        output.end();
        assertThat(output.stdout()).isEqualTo("round 5\n");
        assertThat(output.images()).extracting(Image::bytes).containsExactly(6);
        assertThat(output.hasMore()).isFalse();
        assertThat(output.nextOffset()).isEqualTo(end);
    }

    @Test
    void bothStreamsAndUnfinishedLines() {
        print("out");
        add(new OutputRecord.Text(end, Stream.STDERR, Blob.utf8("error")));
        clear(false);
        print("\rnext");
        output.end();
        assertThat(output.stdout()).isEqualTo("next");
        assertThat(output.stderr()).isEmpty();
    }

    @Test
    void whatWaitsForMoreStaysIfNothingComes() {
        print("stays\n");
        clear(true);
        clear(true);
        add(new OutputRecord.Outcome(end, "ok", 1, null, null, false, "", null, null, false));
        output.end();
        assertThat(output.stdout()).isEqualTo("stays\n");
    }

    @Test
    void theLastOfTwoCounts() {
        print("goes\n");
        clear(true);
        clear(false);
        print("stays\n");
        print("too\n");
        output.end();
        assertThat(output.stdout()).isEqualTo("stays\ntoo\n");
    }

    @Test
    void whatIsDisplayedAnewAfterwardsIsShownOnce() {
        display("bar", "0 %", false);
        clear(false);
        display("bar", "50 %", true);
        display("bar", "100 %", true);
        assertThat(output.stdout()).isEqualTo("100 %\n");
    }

    @Test
    void roomThatWasTakenIsFreeAgain() {
        String large = "x".repeat(4 * 1024 * 1024);
        for (int round = 0; round < 20; round++) {
            print("t".repeat(90) + "\n");
            show("image/png", large);
            show("image/png", large);
            clear(false);
        }
        assertThat(output.images()).isEmpty();
        assertThat(output.imagesLeftOut()).isZero();
        print("t".repeat(90) + "\n");
        show("image/png", large);
        assertThat(output.stdout()).hasSize(91);
        assertThat(output.images()).hasSize(1);
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void theValueAndTheErrorStay() {
        add(new OutputRecord.Shown(end, true, "text/plain", Blob.utf8("42"), null, null));
        add(new OutputRecord.Raised(end, "E", "m", Blob.utf8("trace")));
        clear(false);
        assertThat(output.result()).isEqualTo("42");
        assertThat(output.error()).isEqualTo(new ExecutionError("E", "m", "trace"));
    }

    @Test
    void aPageThatEndedBeforeTellsWhatWasThere() {
        output = OutputCollector.page(4, 0, Shares.wide());
        print("0123456789\n");
        assertThat(output.isFull()).isTrue();
        clear(false);
        print("next");
        output.end();
        assertThat(output.stdout()).isEqualTo("0123");
        assertThat(output.nextOffset()).isEqualTo(4);
    }

    private String print(String text) {
        return add(new OutputRecord.Text(end, Stream.STDOUT, Blob.utf8(text)));
    }

    private void show(String mime, String content) {
        add(new OutputRecord.Shown(end, false, mime, Blob.utf8(content), null, null));
    }

    private void display(String id, String text, boolean update) {
        var display = new OutputRecord.Display(id, update);
        add(new OutputRecord.Shown(end, false, "text/plain", Blob.utf8(text), null, display));
    }

    private void clear(boolean wait) {
        add(new OutputRecord.Cleared(end, wait));
    }

    private String add(OutputRecord record) {
        end = record.end();
        return output.add(record);
    }
}
