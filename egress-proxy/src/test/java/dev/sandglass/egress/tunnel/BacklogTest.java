package dev.sandglass.egress.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What tunnels hold, on a clock that is turned by hand. */
class BacklogTest {

    private static final int SIZE = 1000;
    private static final int COUNTED = SIZE + 512;

    private final AtomicLong clock = new AtomicLong();
    private final Backlog backlog = new Backlog(2 * COUNTED, clock::get);
    private final Backlog.Direction direction = backlog.new Direction();
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private ChannelFuture written() {
        return channel.write(Unpooled.EMPTY_BUFFER).addListener(direction.hold(SIZE));
    }

    @Test
    void whatIsTakenIsHeldNoMore() {
        var _ = written();
        assertThat(backlog.bytes()).isEqualTo(COUNTED);
        assertThat(direction.held()).isEqualTo(COUNTED);
        channel.flush();
        assertThat(backlog.bytes()).isZero();
        assertThat(direction.held()).isZero();
    }

    @Test
    void whatCanNoLongerBeTakenIsNotHeldEither() {
        var _ = written();
        var _ = channel.close();
        assertThat(backlog.bytes()).isZero();
        var _ = written();
        assertThat(backlog.bytes()).isZero();
    }

    @Test
    void aReaderStandsStillFromWhatItDidNotTakeOn() {
        clock.addAndGet(Duration.ofHours(1).toNanos());
        assertThat(direction.hasStood(Duration.ZERO)).isFalse();
        var _ = written();
        clock.addAndGet(Backlog.PATIENCE.toNanos() - 1);
        assertThat(direction.hasStood(Backlog.PATIENCE)).isFalse();
        clock.addAndGet(1);
        assertThat(direction.hasStood(Backlog.PATIENCE)).isTrue();
        channel.flush();
        assertThat(direction.hasStood(Duration.ZERO)).isFalse();
    }

    @Test
    void thereIsPatienceUntilHalfAsMuchAgainIsHeld() {
        for (int i = 0; i < 3; i++) {
            var _ = written();
        }
        assertThat(backlog.excess()).isEqualTo(COUNTED);
        assertThat(backlog.patience()).isEqualTo(Backlog.PATIENCE);
        var _ = written();
        assertThat(backlog.patience()).isZero();
    }
}
