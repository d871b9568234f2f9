package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RedialTest {

    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Redial redial = new Redial();

    @Test
    void pausesAreATwentiethOfTheTimeThatItTakesWithinBounds() {
        long start = -5 * MS;
        redial.tcpPatience(start);
        assertThat(redial.pause(start)).isEqualTo(10 * MS);
        assertThat(redial.pause(start + 200 * MS)).isEqualTo(10 * MS);
        assertThat(redial.pause(start + 2_000 * MS)).isEqualTo(100 * MS);
        assertThat(redial.pause(start + 60_000 * MS)).isEqualTo(1_000 * MS);
    }

    @Test
    void patienceGrowsFromAttemptToAttemptUpToABound() {
        assertThat(redial.tcpPatience(0)).isEqualTo(50 * MS);
        assertThat(redial.tcpPatience(0)).isEqualTo(100 * MS);
        assertThat(redial.greetingPatience()).isEqualTo(500 * MS);
        assertThat(redial.greetingPatience()).isEqualTo(2_000 * MS);
        assertThat(redial.helloPatience()).isEqualTo(4_000 * MS);
        assertThat(redial.helloPatience()).isEqualTo(16_000 * MS);
        for (int i = 0; i < 10; i++) {
            redial.helloPatience();
            redial.tcpPatience(0);
            redial.greetingPatience();
        }
        assertThat(redial.tcpPatience(0)).isEqualTo(4_000 * MS);
        assertThat(redial.greetingPatience()).isEqualTo(4_000 * MS);
        assertThat(redial.helloPatience()).isEqualTo(30_000 * MS);
    }

    @Test
    void aSignOfLifeMakesSilenceSuspiciousAgain() {
        redial.greetingPatience();
        redial.greetingPatience();
        redial.tcpPatience(0);
        redial.tcpPatience(0);
        redial.heard();
        assertThat(redial.greetingPatience()).isEqualTo(500 * MS);
        assertThat(redial.tcpPatience(0)).isEqualTo(50 * MS);
    }

    @Test
    void afterARestItBeginsAnew() {
        redial.tcpPatience(0);
        redial.greetingPatience();
        redial.rest();
        assertThat(redial.pause(60_000 * MS)).isEqualTo(10 * MS);
        assertThat(redial.tcpPatience(60_000 * MS)).isEqualTo(50 * MS);
        assertThat(redial.greetingPatience()).isEqualTo(500 * MS);
        assertThat(redial.pause(60_000 * MS)).isEqualTo(10 * MS);
    }

    /** Each try of one that answers and hangs up at once is a handshake, and a line in the log. */
    @Test
    void oneThatHangsUpAgainAndAgainIsCalledMoreSeldom() {
        long now = 0;
        int calls = 0;
        for (; now < 60_000 * MS; calls++) {
            redial.tcpPatience(now);
            redial.opened(now);
            now += 5 * MS;
            now += redial.pause(now);
        }
        assertThat(calls).isLessThan(150);
    }

    @Test
    void oneThatStoodForAWhileIsCalledAtOnce() {
        redial.tcpPatience(0);
        redial.opened(8_000 * MS);
        assertThat(redial.pause(18_000 * MS)).isEqualTo(10 * MS);
        redial.tcpPatience(18_010 * MS);
        assertThat(redial.pause(20_010 * MS)).isEqualTo(100 * MS);
    }
}
