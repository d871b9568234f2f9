package dev.sandglass.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Bodies in pieces as small as their senders like. */
class ChunkCoalescerTest {

    private final EmbeddedChannel channel = new EmbeddedChannel(new HttpResponseDecoder(), new ChunkCoalescer());

    private void read(String bytes) {
        channel.writeInbound(Unpooled.copiedBuffer(bytes, StandardCharsets.US_ASCII));
    }

    /** What was passed on, but for heads; an end is {@code end}. */
    private List<String> passed() {
        List<String> pieces = new ArrayList<>();
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            if (message instanceof HttpContent piece) {
                String text = piece.content().toString(StandardCharsets.US_ASCII);
                pieces.add(piece instanceof LastHttpContent ? text + "end" : text);
                piece.release();
            }
        }
        return pieces;
    }

    @Test
    void smallOnesOfOneReadingAreOne() {
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + "1\r\na\r\n".repeat(100));
        assertThat(passed()).containsExactly("a".repeat(100));
        read("1\r\nb\r\n1\r\nc\r\n0\r\n\r\n");
        assertThat(passed()).containsExactly("bc", "end");
    }

    @Test
    void theirOrderIsKept() {
        String large = "l".repeat(ChunkCoalescer.LARGE);
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n400\r\n" + large
                + "\r\n1\r\nb\r\n0\r\n\r\n");
        assertThat(passed()).containsExactly("a", large, "b", "end");
    }

    @Test
    void noneGrowsWithoutEnd() {
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + "1\r\na\r\n".repeat(100_000));
        assertThat(passed())
                .allSatisfy(piece -> assertThat(piece.length()).isLessThanOrEqualTo(8 * ChunkCoalescer.LARGE))
                .hasSizeGreaterThan(10)
                .satisfies(all -> assertThat(String.join("", all)).hasSize(100_000));
    }

    @Test
    void whatIsJoinedWhenAConnectionEndsIsPassedOnOrReleased() {
        ByteBuf piece = Unpooled.copiedBuffer("a", StandardCharsets.US_ASCII);
        channel.pipeline().context(HttpResponseDecoder.class).fireChannelRead(new DefaultHttpContent(piece));
        assertThat(piece.refCnt()).isZero();
        assertThat(passed()).isEmpty();
        var _ = channel.close();
        assertThat(passed()).containsExactly("a");
    }
}
