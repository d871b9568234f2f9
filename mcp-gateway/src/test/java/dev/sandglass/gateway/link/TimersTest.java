package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TimersTest {

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 10);
    private final List<Long> told = new ArrayList<>();
    private final Timers timers = new Timers(clock::get, told::add);
    private final List<String> done = new ArrayList<>();

    @Test
    void doesThingsInTheOrderOfTheirTimeEvenWhenTheClockOverflows() {
        timers.after(30, () -> done.add("late"));
        timers.after(5, () -> done.add("early"));
        assertThat(timers.runDue()).isEqualTo(5);
        clock.addAndGet(29);
        assertThat(timers.runDue()).isEqualTo(1);
        assertThat(done).containsExactly("early");
        clock.addAndGet(1);
        assertThat(timers.runDue()).isEqualTo(Long.MAX_VALUE);
        assertThat(done).containsExactly("early", "late");
    }

    @Test
    void cancelledThingsAreNotDoneAndDoNotWakeAnybody() {
        timers.after(5, () -> done.add("x")).cancel();
        assertThat(timers.runDue()).isEqualTo(Long.MAX_VALUE);
        clock.addAndGet(10);
        timers.runDue();
        assertThat(done).isEmpty();
    }

    @Test
    void whatIsAddedMeanwhileIsDoneToo() {
        timers.after(0, () -> timers.after(0, () -> done.add("second")));
        timers.runDue();
        assertThat(done).containsExactly("second");
    }

    @Test
    void aQueueThatIsMostlyCancelledIsTidiedUp() {
        for (int i = 0; i < 100_000; i++) {
            timers.after(60, () -> done.add("cancelled")).cancel();
            assertThat(timers.size()).isLessThanOrEqualTo(Timers.FEW + 1);
        }
    }

    @Test
    void whatIsNotCancelledStaysWhenTheQueueIsTidiedUp() {
        List<Timers.Timer> cancelled = new ArrayList<>();
        for (int i = 0; i < Timers.FEW; i++) {
            int number = i;
            timers.after(2L * i + 1, () -> done.add(Integer.toString(number)));
            cancelled.add(timers.after(2L * i, () -> done.add("cancelled")));
            cancelled.add(timers.after(1_000, () -> done.add("cancelled")));
        }
        int all = timers.size();
        for (Timers.Timer timer : cancelled) {
            timer.cancel();
            // Cancelled already: counts once.
            timer.cancel();
        }
        assertThat(timers.size()).isLessThan(all);
        clock.addAndGet(1_000);
        assertThat(timers.runDue()).isEqualTo(Long.MAX_VALUE);
        assertThat(done).hasSize(Timers.FEW).startsWith("0", "1").endsWith(Integer.toString(Timers.FEW - 1));
        assertThat(timers.size()).isZero();
    }

    @Test
    void cancellingWhatIsDoneAlreadyCountsForNothing() {
        timers.after(1_000, () -> done.add("later"));
        for (int i = 0; i < Timers.FEW; i++) {
            Timers.Timer timer = timers.after(0, () -> {});
            timers.runDue();
            timer.cancel();
        }
        Timers.Timer next = timers.after(60, () -> done.add("next"));
        next.cancel();
        // Not tidied up, which it would be if those had counted.
        assertThat(timers.size()).isEqualTo(2);
        clock.addAndGet(1_000);
        timers.runDue();
        assertThat(done).containsExactly("later");
    }

    @Test
    void tellsWhenItIsToBeCalledSooner() {
        timers.after(50, () -> {});
        timers.after(70, () -> {});
        timers.after(20, () -> {});
        assertThat(told).containsExactly(50L, 20L);
    }
}
