package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ActivityTest {

    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final Duration IDLE = Duration.ofMinutes(40);

    @Test
    void aLeaseLastsAtLeastASecondAndCountsUp() {
        assertThat(Activity.now(NOON, Duration.ZERO).leaseSeconds()).isEqualTo(1);
        assertThat(Activity.now(NOON, Duration.ofMillis(1001)).leaseSeconds()).isEqualTo(2);
    }

    @Test
    void whatIsRecordedCoversUsesThatLackAtMostAQuarterOfTheIdleTime() {
        Activity recorded = Activity.now(NOON, Duration.ofMinutes(2));

        assertThat(recorded.covers(Activity.now(NOON, Duration.ofMinutes(2)), IDLE))
                .isTrue();
        assertThat(recorded.covers(Activity.now(NOON, Duration.ofMinutes(12)), IDLE))
                .isTrue();
        assertThat(recorded.covers(Activity.now(NOON, Duration.ofMinutes(12).plusMillis(1)), IDLE))
                .isFalse();
        assertThat(recorded.covers(Activity.now(NOON.plus(Duration.ofMinutes(11)), Duration.ofMinutes(2)), IDLE))
                .isFalse();
    }

    /** A use that the lease covers is not written: it may end later than the lease says. */
    @Test
    void noUseThatALeaseCoversGoesOnWhenTheLeaseSaysThatNoneMay() {
        Activity recorded = Activity.now(NOON, Duration.ofMinutes(2));
        Instant lastEnd = NOON.plus(Duration.ofMinutes(12));

        assertThat(recorded.covers(new Activity(NOON, lastEnd), IDLE)).isTrue();
        assertThat(recorded.mayGoOn(lastEnd, IDLE)).isTrue();
        assertThat(recorded.mayGoOn(lastEnd.plus(Activity.SKEW), IDLE)).isTrue();
        assertThat(recorded.mayGoOn(lastEnd.plus(Activity.SKEW).plusMillis(1), IDLE))
                .isFalse();
        assertThat(recorded.mayGoOn(NOON.minusSeconds(1), IDLE)).isTrue();
    }

    @Test
    void idleTimeCountsFromTheEndOfTheUseAndLeavesOutWhatALeaseMayLack() {
        Activity recorded = Activity.now(NOON, Duration.ofMinutes(2));

        assertThat(recorded.idleFor(NOON.plus(Duration.ofMinutes(33)), IDLE)).isEqualTo(Duration.ofMinutes(20));
        assertThat(recorded.idleFor(NOON.plus(Duration.ofMinutes(12)), IDLE)).isNegative();
    }

    @Test
    void aShortUseDoesNotShortenALongOne() {
        Activity hour = Activity.now(NOON, Duration.ofHours(1));
        Activity minute = Activity.now(NOON.plusSeconds(60), Duration.ofMinutes(1));

        Activity both = hour.extendedBy(minute);

        assertThat(both.renewed()).isEqualTo(NOON.plusSeconds(60));
        assertThat(both.busyUntil()).isEqualTo(NOON.plus(Duration.ofHours(1)));
        assertThat(both.leaseSeconds()).isEqualTo(3540);
    }

    @Test
    void aUseThatEndsASleepIsLaterThanItsBeginningByTheOperatorsClock() {
        Instant later = NOON.plusSeconds(30);

        assertThat(Activity.ending(later, NOON).renewed()).isEqualTo(later.plusMillis(1));
        assertThat(Activity.ending(NOON, NOON).renewed()).isEqualTo(NOON.plusMillis(1));
        assertThat(Activity.ending(NOON, later).renewed()).isEqualTo(later);
    }

    @Test
    void whatWasWrittenAheadOfUsByMoreThanAMinuteCountsForNothing() {
        Activity use = Activity.now(NOON, Duration.ofMinutes(2));
        Activity ahead = Activity.now(NOON.plus(Activity.SKEW), Duration.ofMinutes(2));
        Activity wrong = Activity.now(NOON.plus(Activity.SKEW).plusMillis(1), Duration.ofMinutes(2));

        assertThat(ahead.covers(use, IDLE)).isTrue();
        assertThat(ahead.extendedBy(use)).isEqualTo(ahead);
        assertThat(wrong.covers(use, IDLE)).isFalse();
        assertThat(wrong.extendedBy(use)).isEqualTo(use);
    }
}
