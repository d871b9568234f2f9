package dev.sandglass.egress.denial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.egress.denial.DenialCounts.Notice;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** One Event for each host, sandbox and minute, and no denial uncounted. */
class DenialCountsTest {

    private static final Instant MINUTE = Instant.parse("2026-01-01T00:00:00Z");
    private static final Instant NEXT = MINUTE.plusSeconds(60);

    private final DenialCounts counts = new DenialCounts();

    private static Denial denial(String uid, String host) {
        return new Denial(uid, "tenant", "box", host, 443, "not-allowed", MINUTE);
    }

    @Test
    void theFirstAtOnceAndTheOthersInTheNextMinute() {
        Denial one = denial("a", "x.example");
        assertThat(counts.add(one, MINUTE.plusSeconds(3))).hasValue(new Notice(one, 1, MINUTE));
        assertThat(counts.add(one, MINUTE.plusSeconds(4))).isEmpty();
        assertThat(counts.add(one, MINUTE.plusSeconds(59))).isEmpty();
        assertThat(counts.due(MINUTE.plusSeconds(59))).isEmpty();
        assertThat(counts.due(NEXT)).containsExactly(new Notice(one, 2, NEXT));
        assertThat(counts.due(NEXT.plusSeconds(59))).isEmpty();
        assertThat(counts.add(one, NEXT.plusSeconds(59))).isEmpty();
        assertThat(counts.add(one, NEXT.plusSeconds(60))).hasValue(new Notice(one, 2, NEXT.plusSeconds(60)));
    }

    @Test
    void everyHostAndSandboxForItself() {
        assertThat(counts.add(denial("a", "x.example"), MINUTE)).isPresent();
        assertThat(counts.add(denial("a", "y.example"), MINUTE)).isPresent();
        assertThat(counts.add(denial("b", "x.example"), MINUTE)).isPresent();
    }

    @Test
    void whatAnotherReplicaToldCountsForTheNextMinute() {
        Denial one = denial("a", "x.example");
        Notice notice = counts.add(one, MINUTE).orElseThrow();
        counts.putBack(notice);
        assertThat(counts.due(MINUTE.plusSeconds(30))).isEmpty();
        assertThat(counts.due(NEXT)).containsExactly(new Notice(one, 1, NEXT));
    }

    @Test
    void soManyHostsAndSandboxes() {
        for (int host = 0; host < DenialCounts.MAX_HOSTS; host++) {
            assertThat(counts.add(denial("a", host + ".example"), MINUTE)).isPresent();
        }
        assertThat(counts.add(denial("a", "more.example"), MINUTE)).isEmpty();
        assertThat(counts.add(denial("a", "0.example"), NEXT)).isPresent();
        for (int sandbox = 1; sandbox < DenialCounts.MAX_SANDBOXES; sandbox++) {
            assertThat(counts.add(denial("s" + sandbox, "x.example"), MINUTE)).isPresent();
        }
        assertThat(counts.add(denial("more", "x.example"), MINUTE)).isEmpty();
        counts.due(NEXT.plusSeconds(60));
        assertThat(counts.add(denial("more", "x.example"), NEXT.plusSeconds(60)))
                .isPresent();
    }
}
