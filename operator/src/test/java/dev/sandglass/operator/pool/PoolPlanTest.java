package dev.sandglass.operator.pool;

import static dev.sandglass.operator.pool.Pools.NOW;
import static dev.sandglass.operator.pool.Pools.failed;
import static dev.sandglass.operator.pool.Pools.leaving;
import static dev.sandglass.operator.pool.Pools.outdated;
import static dev.sandglass.operator.pool.Pools.ready;
import static dev.sandglass.operator.pool.Pools.starting;
import static dev.sandglass.operator.pool.Pools.unschedulable;
import static dev.sandglass.operator.pool.Pools.view;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.lifecycle.SeatState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which seats are made and which are ended, rule by rule and at each bound. */
class PoolPlanTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final PodRefusal REFUSAL = new PodRefusal(Reason.IMAGE_FORBIDDEN, "not on the list");

    static PoolView with(PoolView view, PoolMemory memory) {
        return view.after(view.seats(), memory);
    }

    private static PoolView refused(PoolView view, Optional<PodRefusal> refusal, Optional<PodRefusal> open) {
        return new PoolView(
                view.pool(),
                view.seats(),
                view.hash(),
                refusal,
                open,
                view.memory(),
                view.lastClaim(),
                view.heldUntil(),
                view.now());
    }

    private static PoolView claimed(PoolView view, Duration before) {
        return new PoolView(
                view.pool(),
                view.seats(),
                view.hash(),
                view.refusal(),
                view.open(),
                view.memory(),
                Optional.of(NOW.minus(before)),
                view.heldUntil(),
                view.now());
    }

    /** Numbers of the seats. */
    static List<String> ended(PoolPlan plan) {
        return plan.end().stream()
                .map(Seat::name)
                .map(name -> name.replaceAll("^sbx-.*?([1-9][0-9]*)-0$", "$1"))
                .toList();
    }

    @Test
    void anEmptyPoolMakesOneSeatAndTheNextASecondLater() {
        PoolPlan plan = PoolPlan.of(view(2));
        assertThat(plan.make()).isTrue();
        assertThat(plan.end()).isEmpty();
        assertThat(plan.review()).hasValue(NOW.plusSeconds(1));
    }

    @Test
    void aPoolMakesOneSeatASecond() {
        PoolView one = view(2, ready(1, MINUTE));
        PoolPlan early = PoolPlan.of(with(one, one.memory().made(NOW.minusMillis(999))));
        assertThat(early.make()).isFalse();
        assertThat(early.review()).hasValue(NOW.plusMillis(1));
        assertThat(PoolPlan.of(with(one, one.memory().made(NOW.minusSeconds(1))))
                        .make())
                .isTrue();
    }

    @Test
    void aPoolWithItsSeatsIsLeftAloneUntilTheFirstBecomesTooOld() {
        PoolPlan plan = PoolPlan.of(view(2, ready(1, MINUTE), ready(2, Duration.ofHours(1))));
        assertThat(plan.make()).isFalse();
        assertThat(plan.end()).isEmpty();
        assertThat(plan.review()).hasValue(NOW.plus(Duration.ofHours(5)));
    }

    @Test
    void whatIsWantedNoMoreGoesTheNewestUnreadyFirst() {
        Seat[] seats = {
            ready(1, Duration.ofMinutes(5)),
            ready(2, Duration.ofMinutes(4)),
            starting(3, Duration.ofSeconds(30)),
            starting(4, Duration.ofSeconds(20))
        };
        assertThat(ended(PoolPlan.of(view(3, seats)))).containsExactly("4");
        assertThat(ended(PoolPlan.of(view(2, seats)))).containsExactly("4", "3");
        assertThat(ended(PoolPlan.of(view(1, seats)))).containsExactly("4", "3", "2");
        assertThat(ended(PoolPlan.of(view(0, seats)))).containsExactly("4", "3", "2", "1");
        assertThat(PoolPlan.of(view(0)).make()).isFalse();
    }

    @Test
    void aSeatIsReplacedWhenItIsSixHoursOldAndNoSooner() {
        PoolPlan young = PoolPlan.of(view(1, ready(1, SeatPod.MAX_AGE.minusSeconds(1))));
        assertThat(young.make()).isFalse();
        assertThat(young.review()).hasValue(NOW.plusSeconds(1));

        Seat old = ready(1, SeatPod.MAX_AGE);
        PoolPlan due = PoolPlan.of(view(1, old));
        assertThat(due.make()).isTrue();
        assertThat(due.end()).as("it can be claimed until another is ready").isEmpty();
        assertThat(ended(PoolPlan.of(view(1, old, ready(2, MINUTE))))).containsExactly("1");
    }

    @Test
    void aSeatThatEndedIsRemovedAtOnceAndReplaced() {
        PoolPlan plan = PoolPlan.of(view(1, failed(1, MINUTE)));
        assertThat(ended(plan)).containsExactly("1");
        assertThat(plan.make()).isTrue();
    }

    @Test
    void aSeatOnItsWayOutCountsNoMore() {
        PoolPlan plan = PoolPlan.of(view(1, leaving(1, MINUTE)));
        assertThat(plan.make()).isTrue();
        assertThat(plan.end()).isEmpty();
    }

    @Test
    void whereOneHangsAndNoneIsReadyMoreWouldHangToo() {
        assertThat(PoolPlan.of(view(3, unschedulable(1, Duration.ofSeconds(1)))).make())
                .isFalse();
        assertThat(PoolPlan.of(view(3, unschedulable(1, MINUTE), ready(2, MINUTE)))
                        .make())
                .isTrue();
    }

    @Test
    void aSeatShouldBeReadyWithinAMinute() {
        PoolPlan before = PoolPlan.of(view(3, starting(1, Duration.ofSeconds(59))));
        assertThat(before.make()).isTrue();
        assertThat(PoolPlan.of(view(3, starting(1, MINUTE))).make()).isFalse();
        assertThat(PoolPlan.of(view(1, starting(1, Duration.ofSeconds(59)))).review())
                .hasValue(NOW.plusSeconds(1));
    }

    @Test
    void aSeatOfWhichNothingIsKnownIsGivenUpAfterTenMinutes() {
        PoolPlan waits = PoolPlan.of(view(1, starting(1, PoolPlan.GIVEN_UP_AFTER.minusSeconds(1))));
        assertThat(waits.end()).isEmpty();
        assertThat(waits.review()).hasValue(NOW.plusSeconds(1));
        PoolPlan givenUp = PoolPlan.of(view(1, starting(1, PoolPlan.GIVEN_UP_AFTER)));
        assertThat(ended(givenUp)).containsExactly("1");
        assertThat(givenUp.make()).isTrue();
        assertThat(PoolPlan.of(view(1, unschedulable(1, Duration.ofHours(1)))).end())
                .as("Kubernetes goes on trying")
                .isEmpty();
    }

    @Test
    void aTemplateThatIsRefusedKeepsNoSeats() {
        PoolPlan plan = PoolPlan.of(
                refused(view(2, ready(1, MINUTE), outdated(ready(2, MINUTE))), Optional.of(REFUSAL), Optional.empty()));
        assertThat(plan.make()).isFalse();
        assertThat(ended(plan)).containsExactlyInAnyOrder("1", "2");
    }

    @Test
    void inAnOpenNamespaceNoneIsMadeAndThoseThatThereAreStay() {
        PoolPlan plan = PoolPlan.of(refused(view(2, ready(1, MINUTE)), Optional.empty(), Optional.of(REFUSAL)));
        assertThat(plan.make()).isFalse();
        assertThat(plan.end()).isEmpty();
    }

    @Test
    void noneIsMadeWhileSandboxesClaimButTheyCannotHoldItUpForEver() {
        PoolView one = view(2, ready(1, MINUTE));
        PoolPlan busy = PoolPlan.of(claimed(one, PoolPlan.QUIET.minusMillis(1)));
        assertThat(busy.make()).isFalse();
        assertThat(busy.review()).hasValue(NOW.plusMillis(1));
        assertThat(PoolPlan.of(claimed(one, PoolPlan.QUIET)).make()).isTrue();

        PoolMemory almost =
                one.memory().lacking(true, NOW.minus(PoolPlan.LONGEST_QUIET).plusMillis(1));
        PoolMemory longEnough = one.memory().lacking(true, NOW.minus(PoolPlan.LONGEST_QUIET));
        assertThat(PoolPlan.of(claimed(with(one, almost), Duration.ZERO)).make())
                .isFalse();
        assertThat(PoolPlan.of(claimed(with(one, longEnough), Duration.ZERO)).make())
                .isTrue();
    }

    @Test
    void roomThatWasMadeForASandboxIsLeftToIt() {
        PoolView one = view(1);
        PoolView held = new PoolView(
                one.pool(),
                one.seats(),
                one.hash(),
                one.refusal(),
                one.open(),
                one.memory(),
                one.lastClaim(),
                Optional.of(NOW.plusSeconds(7)),
                NOW);
        PoolPlan plan = PoolPlan.of(held);
        assertThat(plan.make()).isFalse();
        assertThat(plan.review()).hasValue(NOW.plusSeconds(7));
    }

    @Test
    void aFullQuotaIsTriedAgainLessAndLessOften() {
        PodRefusal full = new PodRefusal(Reason.QUOTA_EXCEEDED, "exceeded quota");
        assertThat(retry(full, NOW)).isEqualTo(NOW.plusSeconds(10));
        assertThat(retry(full, NOW, NOW.plusSeconds(40))).isEqualTo(NOW.plusSeconds(50));
        assertThat(retry(full, NOW, NOW.plusSeconds(80))).isEqualTo(NOW.plusSeconds(100));
        Instant late = NOW.plus(Duration.ofHours(2));
        assertThat(retry(full, NOW, late)).isEqualTo(late.plus(Duration.ofMinutes(5)));
        PodRefusal other = new PodRefusal(Reason.POD_REFUSED, "denied");
        assertThat(retry(other, NOW)).isEqualTo(NOW.plusSeconds(60));

        PoolView waits = view(1);
        PoolPlan plan = PoolPlan.of(with(waits, waits.memory().refused(full, NOW.minusSeconds(3))));
        assertThat(plan.make()).isFalse();
        assertThat(plan.review()).hasValue(NOW.plusSeconds(7));
    }

    private static Instant retry(PodRefusal refusal, Instant... at) {
        PoolMemory memory = PoolMemory.NONE;
        for (Instant time : at) {
            memory = memory.refused(refusal, time);
        }
        return memory.setback().orElseThrow().retry();
    }

    @Test
    void seatsThatFailFiveTimesInARowAreMadeLessOften() {
        PoolMemory memory = PoolMemory.NONE.seen(List.of(), Pools.HASH, NOW);
        for (int number = 1; number < Setback.BUDGET; number++) {
            memory = memory.seen(List.of(failed(number, MINUTE)), Pools.HASH, NOW);
        }
        assertThat(memory.told()).isEmpty();
        assertThat(PoolPlan.of(with(view(1), memory)).make()).isTrue();

        PoolMemory again = memory.seen(List.of(failed(4, MINUTE)), Pools.HASH, NOW);
        assertThat(again.told()).as("the same seat counts once").isEmpty();

        PoolMemory spent = memory.seen(List.of(failed(5, MINUTE)), Pools.HASH, NOW);
        assertThat(spent.told()).hasValueSatisfying(setback -> {
            assertThat(setback.reason()).isEqualTo(Reason.EVICTED);
            assertThat(setback.message()).contains("low on resource");
        });
        PoolPlan plan = PoolPlan.of(with(view(1), spent));
        assertThat(plan.make()).isFalse();
        assertThat(plan.review()).hasValue(NOW.plusSeconds(10));
        assertThat(spent.seen(List.of(), "edited", NOW).setback())
                .as("another template is tried at once")
                .isEmpty();
    }

    @Test
    void aSeatThatStartsEndsTheCount() {
        PoolMemory memory = PoolMemory.NONE.seen(List.of(failed(1, MINUTE)), Pools.HASH, NOW.minusSeconds(30));
        assertThat(memory.seen(List.of(ready(2, Duration.ofSeconds(31))), Pools.HASH, NOW)
                        .setback())
                .as("it was made before that")
                .isPresent();
        assertThat(memory.seen(List.of(ready(2, Duration.ofSeconds(30))), Pools.HASH, NOW)
                        .setback())
                .isEmpty();
        PoolMemory refused =
                memory.refused(new PodRefusal(Reason.QUOTA_EXCEEDED, "exceeded quota"), NOW.minusSeconds(20));
        assertThat(refused.seen(List.of(ready(2, Duration.ofSeconds(5))), Pools.HASH, NOW)
                        .setback())
                .as("only a seat that is taken shows that there is room")
                .isPresent();
        assertThat(refused.made(NOW).setback()).isEmpty();
    }

    @Test
    void aSeatThatLacksItsSecretIsOnItsWay() {
        Seat waiting = Seat.of(ready(1, MINUTE).pod().toBuilder()
                .editStatus()
                .editFirstContainerStatus()
                .withNewState()
                .withNewWaiting()
                .withReason("CreateContainerConfigError")
                .withMessage("secret not found")
                .endWaiting()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());
        assertThat(waiting.state()).isInstanceOf(SeatState.Starting.class);
        assertThat(PoolPlan.of(view(1, waiting)).end()).isEmpty();
    }

    /** Whatever the state of the seats: at most one more than wanted, and one at a time. */
    @Tag("slow")
    @Test
    void neverAreThereMoreThanOneTooMany() {
        for (int replicas = 0; replicas <= 4; replicas++) {
            for (int present = 0; present <= 5; present++) {
                for (int old = 0; old <= 5; old++) {
                    Seat[] seats = new Seat[present + old];
                    for (int i = 0; i < seats.length; i++) {
                        Seat seat = i % 2 == 0 ? ready(i + 1, MINUTE) : starting(i + 1, Duration.ofSeconds(5));
                        seats[i] = i < present ? seat : outdated(seat);
                    }
                    PoolPlan plan = PoolPlan.of(view(replicas, seats));
                    int left = seats.length - plan.end().size();
                    assertThat(left + (plan.make() ? 1 : 0))
                            .as("%d wanted, %d present, %d outdated", replicas, present, old)
                            .isLessThanOrEqualTo(replicas + 1);
                }
            }
        }
    }
}
