package dev.sandglass.gateway.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One side's gate, byte by byte. */
class FrameGateTest {

    private static final int MOST_OF_FRAME = 1000;
    private static final int MOST = 2500;

    private final SocketSettings settings = new SocketSettings(MOST_OF_FRAME, MOST, MOST, MOST, Duration.ofSeconds(30));
    private final FrameBudget budget = new FrameBudget(settings);
    private final RunningSandbox sandbox =
            new RunningSandbox(new SandboxRef("t", "n", "box", "box"), "uid", 1, "127.0.0.1", 5710, List.of());
    private final List<WebSocketCloseStatus> refusals = new ArrayList<>();
    private final EmbeddedChannel sink = new EmbeddedChannel();
    private final EmbeddedChannel source =
            new EmbeddedChannel(new WebSocket13FrameDecoder(false, false, 2 * MOST_OF_FRAME));
    private final FrameGate gate =
            FrameGate.put(source, sink, new FrameGate.Bounds(budget, sandbox, settings), refusals::add);

    @AfterEach
    void close() {
        source.finishAndReleaseAll();
        sink.finishAndReleaseAll();
        source.checkException();
    }

    /** A whole frame of bytes from a server, with so much content. */
    private static ByteBuf frame(int payload) {
        ByteBuf frame = Unpooled.buffer().writeByte(0x82);
        if (payload < 126) {
            frame.writeByte(payload);
        } else if (payload < 65_536) {
            frame.writeByte(126).writeShort(payload);
        } else {
            frame.writeByte(127).writeLong(payload);
        }
        return frame.writeZero(payload);
    }

    private static ByteBuf half(int payload, int come) {
        return frame(payload).slice(0, come).copy();
    }

    private int taken() {
        WebSocketFrame frame = source.readInbound();
        int bytes = frame.content().readableBytes();
        frame.release();
        gate.passed(bytes);
        return bytes;
    }

    @Test
    void aFrameIsHeldFromItsFirstByteUntilItIsTaken() {
        source.writeInbound(half(500, 100));
        assertThat(budget.held()).isEqualTo(100);

        source.writeInbound(frame(500).skipBytes(100).copy());
        assertThat(budget.held()).isEqualTo(500 + FrameGate.OVERHEAD);

        assertThat(taken()).isEqualTo(500);
        assertThat(budget.held()).isZero();
    }

    @Test
    void aFrameOfTheMostPassesAndOneByteMoreIsTooBig() {
        source.writeInbound(frame(MOST_OF_FRAME));
        assertThat(taken()).isEqualTo(MOST_OF_FRAME);
        assertThat(refusals).isEmpty();

        source.writeInbound(half(MOST_OF_FRAME + 1, 4));

        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().code()).isEqualTo(1009);
        assertThat(refusals.getFirst().reasonText()).isEqualTo("A frame may have 1000 bytes. Send smaller ones.");
        assertThat(budget.held()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, Long.MAX_VALUE, 1L << 32})
    void aLengthBeyondAllBoundsIsTooBig(long length) {
        source.writeInbound(Unpooled.buffer().writeByte(0x82).writeByte(127).writeLong(length));

        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().code()).isEqualTo(1009);
    }

    @Test
    void theBudgetIsFilledToTheLastByteAndNotBeyond() {
        FrameBudget.Share others = budget.share(sandbox);
        others.take(MOST - 600);
        source.writeInbound(half(900, 600));
        assertThat(refusals).isEmpty();

        source.writeInbound(Unpooled.buffer().writeZero(1));

        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().code()).isEqualTo(1013);
        assertThat(refusals.getFirst().reasonText())
                .isEqualTo("This replica's WebSockets hold 2500 bytes of frames, the most."
                        + " Send less at once, read faster, or try later.");
    }

    /** RFC 6455, section 5.5: the reason of a closing has 123 bytes at most. */
    @Test
    void theLongestReasonFitsIntoAClosing() {
        assertThat(
                        "This replica's WebSockets hold %d bytes of frames, the most. Send less at once, read faster, or try later."
                                .formatted(9_999_999_999L))
                .hasSizeLessThanOrEqualTo(123);
    }

    @Test
    void emptyFramesAreNotFree() {
        while (refusals.isEmpty()) {
            source.writeInbound(frame(0));
            assertThat(source.inboundMessages().size()).isLessThanOrEqualTo(MOST / FrameGate.OVERHEAD);
        }

        assertThat(refusals.getFirst().code()).isEqualTo(1013);
    }

    @Test
    void whatComesBehindARefusalIsDroppedAndNotCounted() {
        source.writeInbound(half(MOST_OF_FRAME + 1, 4));
        source.writeInbound(Unpooled.buffer().writeZero(10 * MOST));

        assertThat(refusals).hasSize(1);
        assertThat(budget.held()).isZero();
    }

    @Test
    void aFrameThatIsNotWholeInTimeIsRefused() {
        source.freezeTime();
        source.writeInbound(half(900, 1));
        source.advanceTimeBy(29, TimeUnit.SECONDS);
        source.writeInbound(frame(900).skipBytes(1).slice(1, 500).copy());
        source.advanceTimeBy(999, TimeUnit.MILLISECONDS);
        source.runScheduledPendingTasks();
        assertThat(refusals).isEmpty();

        source.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        source.runScheduledPendingTasks();

        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().code()).isEqualTo(1008);
        assertThat(refusals.getFirst().reasonText()).isEqualTo("A frame must be whole within 30 s. Send smaller ones.");
    }

    @Test
    void everyFrameHasATimeOfItsOwnAndSilenceBetweenThemNone() {
        source.freezeTime();
        for (int i = 0; i < 3; i++) {
            source.writeInbound(half(900, 10));
            source.advanceTimeBy(29, TimeUnit.SECONDS);
            source.writeInbound(frame(900).skipBytes(10).copy());
            assertThat(taken()).isEqualTo(900);
            source.advanceTimeBy(10, TimeUnit.MINUTES);
            source.runScheduledPendingTasks();
        }

        assertThat(refusals).isEmpty();
    }

    @Test
    void whatIsUnfinishedWhenItsSourceEndsIsGivenBackAndWhatIsWholeWhenItsSinkEnds() {
        source.writeInbound(frame(300));
        source.writeInbound(half(900, 400));

        var _ = source.close();
        assertThat(budget.held()).isEqualTo(300 + FrameGate.OVERHEAD);

        var _ = sink.close();
        assertThat(budget.held()).isZero();
    }

    @Test
    void aSinkThatEndsFirstGivesNothingBackUntilTheSourceEnds() {
        source.writeInbound(half(900, 400));
        var _ = sink.close();
        assertThat(budget.held()).isEqualTo(400);

        var _ = source.close();
        assertThat(budget.held()).isZero();
    }

    @Test
    void whereverReadsEndFramesComeWholeAndInOrder() {
        var random = new Random(20_261_123);
        for (int round = 0; round < 200; round++) {
            ByteBuf all = Unpooled.buffer();
            var sizes = new ArrayList<Integer>();
            for (int i = 0; i < 6; i++) {
                int size = random.nextInt(300);
                sizes.add(size);
                all.writeBytes(frame(size));
            }
            var come = new ArrayList<Integer>();
            while (all.isReadable()) {
                source.writeInbound(all.readBytes(1 + random.nextInt(Math.min(400, all.readableBytes()))));
                while (!source.inboundMessages().isEmpty()) {
                    come.add(taken());
                }
            }
            assertThat(come).isEqualTo(sizes);
            assertThat(budget.held()).isZero();
        }
    }

    /** Who does not ask has what came kept as it came: as bytes that count, not as frames. */
    @Test
    void withoutDemandNoFrameIsMade() {
        source.config().setAutoRead(false);
        ByteBuf two = frame(10).writeBytes(frame(20)).writeBytes(frame(30));
        int bytes = two.readableBytes();

        source.writeInbound(two);
        // The one that was asked for at the start, and the decoder's own asking at the end of a read.
        int made = source.inboundMessages().size();
        assertThat(made).isLessThan(3);
        assertThat(budget.held()).isGreaterThan(0).isLessThanOrEqualTo(bytes + 3L * FrameGate.OVERHEAD);

        while (source.inboundMessages().size() < 3) {
            source.read();
        }
        assertThat(source.<BinaryWebSocketFrame>readInbound().content().readableBytes())
                .isEqualTo(10);
        var _ = source.close();
    }
}
