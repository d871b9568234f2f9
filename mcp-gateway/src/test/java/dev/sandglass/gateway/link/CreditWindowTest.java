package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import org.junit.jupiter.api.Test;

class CreditWindowTest {

    private static final int WINDOW = 256 * 1024;

    @Test
    void dueExactlyAtAQuarterOfTheWindow() {
        int quarter = WINDOW / 4;
        assertThat(new CreditWindow(WINDOW, 0).consumed(text(0, quarter - CreditWindow.RECORD_COST - 1)))
                .isFalse();
        assertThat(new CreditWindow(WINDOW, 0).consumed(text(0, quarter - CreditWindow.RECORD_COST)))
                .isTrue();
    }

    @Test
    void acknowledgesTheEndOfWhatIsConsumedAndCountsAnew() {
        CreditWindow credit = new CreditWindow(1024, 500);
        assertThat(credit.owes()).isFalse();
        assertThat(credit.consumed(text(500, 200))).isTrue();
        assertThat(credit.acknowledge()).isEqualTo(700);
        assertThat(credit.owes()).isFalse();
        assertThat(credit.consumed(text(700, 1))).isFalse();
        assertThat(credit.owes()).isTrue();
        assertThat(credit.acknowledge()).isEqualTo(701);
    }

    @Test
    void aFloodOfTinyRecordsNeverFillsTheWindowUnacknowledged() {
        CreditWindow credit = new CreditWindow(WINDOW, 0);
        long unacknowledged = 0;
        long offset = 0;
        for (int i = 0; i < 100_000; i++) {
            OutputRecord record = text(offset, i % 3);
            offset = record.end();
            unacknowledged += record.length() + CreditWindow.RECORD_COST;
            assertThat(unacknowledged).isLessThanOrEqualTo(WINDOW);
            if (credit.consumed(record)) {
                assertThat(credit.acknowledge()).isEqualTo(offset);
                unacknowledged = 0;
            }
        }
    }

    @Test
    void aGapCountsWithItsEnd() {
        CreditWindow credit = new CreditWindow(WINDOW, 0);
        assertThat(credit.consumed(new OutputRecord.Gap(0, 10_000_000))).isTrue();
        assertThat(credit.acknowledge()).isEqualTo(10_000_000);
    }

    @Test
    void aRecordThatStartsBeforeThePlaceAskedForMovesNothingBack() {
        CreditWindow credit = new CreditWindow(WINDOW, 100);
        credit.consumed(text(90, 5));
        assertThat(credit.acknowledge()).isEqualTo(100);
    }

    private static OutputRecord text(long offset, int length) {
        return new OutputRecord.Text(offset, Stream.STDOUT, Blob.of(new byte[length]));
    }
}
