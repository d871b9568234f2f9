package dev.sandglass.egress.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.IpAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Connections by source, on a clock that is turned by hand. */
class SourcesTest {

    private static final IpAddress ONE = IpAddress.parse("10.1.0.1");
    private static final IpAddress OTHER = IpAddress.parse("10.1.0.2");

    private final AtomicLong clock = new AtomicLong();

    private Sources sources(int most, int mostOfOne, int perSecond) {
        return new Sources(most, mostOfOne, perSecond, clock::get);
    }

    @Test
    void soManyOfOneAndSoManyOfAll() {
        Sources sources = sources(3, 2, 100);
        assertThat(sources.enter(ONE)).isTrue();
        assertThat(sources.enter(ONE)).isTrue();
        assertThat(sources.enter(ONE)).isFalse();
        assertThat(sources.enter(OTHER)).isTrue();
        assertThat(sources.enter(OTHER)).isFalse();
        assertThat(sources.count()).isEqualTo(3);
        sources.leave(ONE);
        assertThat(sources.enter(OTHER)).isTrue();
    }

    @Test
    void soManyNewOnesWithinASecondHoweverSoonTheyEnd() {
        Sources sources = sources(100, 100, 2);
        for (int i = 0; i < 2; i++) {
            assertThat(sources.enter(ONE)).isTrue();
            sources.leave(ONE);
        }
        assertThat(sources.enter(ONE)).isFalse();
        assertThat(sources.enter(OTHER)).isTrue();
        clock.addAndGet(Duration.ofMillis(499).toNanos());
        assertThat(sources.enter(ONE)).isFalse();
        clock.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(sources.enter(ONE)).isTrue();
        assertThat(sources.enter(ONE)).isFalse();
    }

    @Test
    void whoeverIsGoneForASecondIsForgotten() {
        Sources sources = sources(100, 100, 2);
        for (int i = 0; i < 50; i++) {
            sources.enter(IpAddress.parse("10.2.0." + i));
            sources.leave(IpAddress.parse("10.2.0." + i));
        }
        sources.enter(OTHER);
        assertThat(sources.size()).isEqualTo(51);
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(sources.enter(ONE)).isTrue();
        assertThat(sources.size()).as("the new one, and the one that is open").isEqualTo(2);
    }
}
