package dev.sandglass.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.publisher.TestPublisher;

/** A body that somebody takes slowly, or no longer. */
class PacedBodyTest {

    private final EmbeddedChannel reader = new EmbeddedChannel();
    private final TestPublisher<ByteBuf> body = TestPublisher.create();
    private final List<ByteBuf> taken = new ArrayList<>();

    /** As many at once as Reactor Netty asks for. */
    private Disposable passed() {
        return Flux.from(PacedBody.of(body.flux(), reader)).limitRate(128).subscribe(taken::add);
    }

    private void reads(boolean on) {
        reader.unsafe().outboundBuffer().setUserDefinedWritability(1, on);
        reader.runPendingTasks();
    }

    private ByteBuf send() {
        ByteBuf piece = Unpooled.buffer(1).writeByte(1);
        body.next(piece);
        reader.runPendingTasks();
        return piece;
    }

    @Test
    void oneAfterTheOtherAsLongAsTheyAreTaken() {
        passed();
        body.assertMinRequested(1).assertMaxRequested(1);
        send();
        body.assertMinRequested(1).assertMaxRequested(1);
        send();
        assertThat(taken).hasSize(2);
    }

    @Test
    void noneIsAskedForUntilThoseBeforeAreTaken() {
        passed();
        reads(false);
        send();
        assertThat(taken).hasSize(1);
        body.assertMaxRequested(0);

        reads(true);
        body.assertMinRequested(1);
        send();
        assertThat(taken).hasSize(2);
    }

    @Test
    void aReaderThatIsGoneIsNotWaitedFor() {
        passed();
        reads(false);
        send();
        var _ = reader.close();
        reader.runPendingTasks();
        body.assertMinRequested(1);
    }

    @Test
    void whatIsLeftOfAnEndIsNothing() {
        var before = reader.config().getWriteBufferWaterMark();
        Disposable end = passed();
        assertThat(reader.config().getWriteBufferWaterMark()).isNotEqualTo(before);
        reads(false);
        send();
        end.dispose();
        reader.runPendingTasks();
        body.assertCancelled();
        assertThat(reader.pipeline().get(PacedBody.class)).isNull();
        assertThat(reader.config().getWriteBufferWaterMark()).isEqualTo(before);
    }

    /** Another body may go to the same connection at once, and must find it as this one did. */
    @Test
    void theEndIsToldWhenNothingIsLeft() {
        var before = reader.config().getWriteBufferWaterMark();
        List<WriteBufferWaterMark> atTheEnd = new ArrayList<>();
        PacedBody.of(body.flux(), reader)
                .subscribe(
                        taken::add,
                        failure -> {},
                        () -> atTheEnd.add(reader.config().getWriteBufferWaterMark()));
        body.complete();
        assertThat(atTheEnd).containsExactly(before);
    }
}
