package dev.sandglass.egress.splitdns;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RatesTest {

    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong now = new AtomicLong(-7);
    private final Rates rates = new Rates(3, now::get);

    @Test
    void soManyASecondForEach() {
        assertThat(rates.take("one")).isTrue();
        assertThat(rates.take("one")).isTrue();
        assertThat(rates.take("one")).isTrue();
        assertThat(rates.take("one")).isFalse();
        assertThat(rates.take("two")).isTrue();
        now.addAndGet(SECOND / 3 + 1);
        assertThat(rates.take("one")).isTrue();
        assertThat(rates.take("one")).isFalse();
    }

    @Test
    void aLongSilenceSavesNoMoreThanASecond() {
        assertThat(rates.take("one")).isTrue();
        now.addAndGet(3600 * SECOND);
        for (int i = 0; i < 3; i++) {
            assertThat(rates.take("one")).isTrue();
        }
        assertThat(rates.take("one")).isFalse();
    }

    @Test
    void whoIsGoneIsForgotten() {
        assertThat(rates.take("one")).isTrue();
        rates.forget("one");
        assertThat(rates.size()).isZero();
    }
}
