package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TimersTest {

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 10);
    private final Timers timers = new Timers(clock::get);
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
}
