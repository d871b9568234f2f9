package dev.sandglass.operator.pool;

import static dev.sandglass.operator.pool.PoolPlanTest.ended;
import static dev.sandglass.operator.pool.PoolPlanTest.with;
import static dev.sandglass.operator.pool.Pools.NOW;
import static dev.sandglass.operator.pool.Pools.outdated;
import static dev.sandglass.operator.pool.Pools.ready;
import static dev.sandglass.operator.pool.Pools.starting;
import static dev.sandglass.operator.pool.Pools.unschedulable;
import static dev.sandglass.operator.pool.Pools.view;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.operator.child.PodRefusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When seats end that no sandbox can claim any more, as their template or the installation's settings were changed. */
class PoolRolloutTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** No sandbox can claim it, so that it had better leave its room to one that can be claimed. */
    @Test
    void anOutdatedSeatGoesWhenAnotherIsMadeInItsPlace() {
        Seat first = outdated(ready(1, Duration.ofHours(1)));
        Seat second = outdated(ready(2, Duration.ofMinutes(30)));

        PoolPlan begin = PoolPlan.of(view(2, first, second));
        assertThat(ended(begin)).containsExactly("1");
        assertThat(begin.make()).isTrue();

        PoolView paused = view(2, second, starting(3, Duration.ZERO));
        PoolPlan waits = PoolPlan.of(with(paused, paused.memory().made(NOW)));
        assertThat(waits.make()).isFalse();
        assertThat(waits.end()).as("nothing needs its place yet").isEmpty();

        PoolPlan goesOn = PoolPlan.of(paused);
        assertThat(ended(goesOn)).containsExactly("2");
        assertThat(goesOn.make()).isTrue();

        PoolPlan done = PoolPlan.of(view(2, second, ready(3, Duration.ofSeconds(9)), ready(4, Duration.ofSeconds(2))));
        assertThat(ended(done)).containsExactly("2");
        assertThat(done.make()).isFalse();
    }

    @Test
    void outdatedSeatsEndWhereAFullQuotaHasNoRoomForAnother() {
        PodRefusal full = new PodRefusal(Reason.QUOTA_EXCEEDED, "exceeded quota");
        Seat[] left = {outdated(ready(2, MINUTE)), outdated(ready(3, MINUTE))};
        PoolView once = view(3, left);
        PoolMemory refused = once.memory().refused(full, NOW.minus(Setback.QUOTA_RETRY));

        PoolPlan waits = PoolPlan.of(with(once, once.memory().refused(full, NOW)));
        assertThat(waits.make()).isFalse();
        assertThat(waits.end()).as("the one that ended may not have left yet").isEmpty();
        PoolPlan again = PoolPlan.of(with(once, refused));
        assertThat(again.make()).isTrue();
        assertThat(again.end()).as("there is a place for it already").isEmpty();

        assertThat(ended(PoolPlan.of(with(once, refused.refused(full, NOW))))).containsExactly("2", "3");
        PodRefusal other = new PodRefusal(Reason.POD_REFUSED, "denied");
        assertThat(PoolPlan.of(with(once, once.memory().refused(other, NOW).refused(other, NOW)))
                        .end())
                .as("room would not help")
                .isEmpty();
    }

    @Test
    void outdatedSeatsEndWhereNoNodeHasRoomForAnother() {
        Seat old = outdated(ready(1, MINUTE));
        Duration almost = PoolPlan.LEAVES_WITHIN.minusSeconds(1);

        PoolPlan waits = PoolPlan.of(view(2, old, unschedulable(2, almost)));
        assertThat(waits.end()).isEmpty();
        assertThat(waits.make()).isFalse();
        assertThat(waits.review()).hasValue(NOW.plusSeconds(1));
        assertThat(ended(PoolPlan.of(view(2, old, unschedulable(2, PoolPlan.LEAVES_WITHIN)))))
                .containsExactly("1");
    }

    /** From a full pool of seats that no sandbox can claim to one of seats that it can, with no room to spare. */
    @Test
    void aRolloutNeedsNoRoomBesidesThatOfThePool() {
        List<Seat> seats = new ArrayList<>();
        for (int number = 1; number <= 3; number++) {
            seats.add(outdated(ready(number, MINUTE)));
        }
        for (int round = 1; round <= 3; round++) {
            PoolPlan plan = PoolPlan.of(view(3, seats.toArray(new Seat[0])));
            assertThat(plan.make()).isTrue();
            seats.removeAll(plan.end());
            seats.add(ready(3 + round, Duration.ofSeconds(5)));
            assertThat(seats).hasSize(3);
        }
        assertThat(seats).allMatch(seat -> seat.isOf(Pools.HASH));
    }

    @Test
    void anOutdatedSeatThatIsNotReadyIsWorthNothing() {
        PoolPlan plan = PoolPlan.of(view(1, outdated(starting(1, MINUTE))));
        assertThat(ended(plan)).containsExactly("1");
        assertThat(plan.make()).isTrue();
    }
}
