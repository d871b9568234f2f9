package dev.sandglass.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the operator did counts before the cache shows it, and no longer than that. */
class SeatExpectationsTest {

    private static final Seat ONE = Pools.ready(1, Duration.ofMinutes(1));
    private static final Pod OTHER = Pools.starting(2, Duration.ZERO).pod();

    private final SeatExpectations expectations = new SeatExpectations();

    private List<String> names(Pod... cached) {
        return expectations.seats(List.of(cached)).stream().map(Seat::name).toList();
    }

    @Test
    void aSeatThatWasMadeCountsBeforeTheCacheShowsItAndOnceAfterwards() {
        expectations.making(OTHER, Pools.NOW);
        String made = OTHER.getMetadata().getName();
        assertThat(names(ONE.pod())).containsExactly(ONE.name(), made);
        assertThat(names(ONE.pod(), OTHER)).containsExactly(ONE.name(), made);
        assertThat(names(ONE.pod())).as("it was there, and is gone").containsExactly(ONE.name());
    }

    @Test
    void aSeatThatWasRefusedDoesNotCount() {
        expectations.making(OTHER, Pools.NOW);
        expectations.notMade(OTHER);
        assertThat(names()).isEmpty();
    }

    @Test
    void aSeatThatWasEndedCountsNoMoreAlthoughTheCacheShowsIt() {
        expectations.ended(ONE);
        assertThat(names(ONE.pod())).isEmpty();
        assertThat(names()).isEmpty();
    }

    @Test
    void aReadySeatThatWentByItselfWasClaimed() {
        Seat two = Pools.ready(2, Duration.ofMinutes(1));
        Seat three = Pools.starting(3, Duration.ZERO);
        assertThat(expectations.lastClaim(List.of(ONE, two, three), Pools.NOW)).isEmpty();
        expectations.ended(two);
        assertThat(expectations.lastClaim(List.of(ONE, three), Pools.NOW.plusSeconds(1)))
                .as("the operator ended it")
                .isEmpty();
        assertThat(expectations.lastClaim(List.of(ONE), Pools.NOW.plusSeconds(2)))
                .as("it was not ready")
                .isEmpty();
        assertThat(expectations.lastClaim(List.of(), Pools.NOW.plusSeconds(3))).hasValue(Pools.NOW.plusSeconds(3));
        assertThat(expectations.lastClaim(List.of(), Pools.NOW.plusSeconds(4))).hasValue(Pools.NOW.plusSeconds(3));
    }

    @Test
    void theApiServerIsAskedAfterFiveSeconds() {
        expectations.making(OTHER, Pools.NOW);
        assertThat(expectations.nextDoubt()).hasValue(Pools.NOW.plus(SeatExpectations.DOUBT_AFTER));
        assertThat(expectations.doubtful(
                        Pools.NOW.plus(SeatExpectations.DOUBT_AFTER).minusMillis(1)))
                .isEmpty();
        assertThat(expectations.doubtful(Pools.NOW.plus(SeatExpectations.DOUBT_AFTER)))
                .hasSize(1);
        expectations.confirmed(OTHER, Pools.NOW.plusSeconds(5));
        assertThat(expectations.nextDoubt()).hasValue(Pools.NOW.plusSeconds(10));
    }
}
