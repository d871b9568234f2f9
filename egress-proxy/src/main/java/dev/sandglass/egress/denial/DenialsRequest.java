package dev.sandglass.egress.denial;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.egress.request.Refusal;
import dev.sandglass.egress.request.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection of a client that reads denials: its request, the begin of the answer, its heartbeat. */
final class DenialsRequest extends ChannelInboundHandlerAdapter {

    private static final String BEARER = "Bearer ";
    private static final String WELCOME =
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n";

    private final EgressSecret secret;
    private final Duration patience;
    private final Duration heartbeat;
    private final Runnable welcome;
    private final StringBuilder held = new StringBuilder();
    private boolean done;
    private @Nullable ScheduledFuture<?> timer;

    /**
     * A connection that has said nothing yet.
     *
     * @param patience until the request is whole
     * @param heartbeat between empty lines
     * @param welcome called once the answer has begun
     */
    DenialsRequest(EgressSecret secret, Duration patience, Duration heartbeat, Runnable welcome) {
        this.secret = secret;
        this.patience = patience;
        this.heartbeat = heartbeat;
        this.welcome = welcome;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        timer = context.executor()
                .schedule(
                        () -> {
                            var _ = context.close();
                        },
                        patience.toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stopTimer();
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        try {
            if (done) {
                return;
            }
            int most = RequestHead.MAX_BYTES + 1 - held.length();
            held.append(bytes.toString(
                    bytes.readerIndex(), Math.min(most, bytes.readableBytes()), StandardCharsets.ISO_8859_1));
        } finally {
            bytes.release();
        }
        int end = held.indexOf("\r\n\r\n");
        if (end >= 0) {
            done = true;
            answer(context, held.substring(0, end + 4));
        } else if (held.length() > RequestHead.MAX_BYTES) {
            done = true;
            refuse(context, "431 Request Header Fields Too Large");
        }
    }

    private void answer(ChannelHandlerContext context, String text) {
        try {
            RequestHead head = RequestHead.parse(text.getBytes(StandardCharsets.ISO_8859_1));
            String shown = head.single("Authorization").orElse("");
            if (!head.method().equals("GET") || !head.target().equals("/denials")) {
                refuse(context, "404 Not Found");
            } else if (!shown.startsWith(BEARER) || !secret.isDenialsToken(shown.substring(BEARER.length()))) {
                refuse(context, "401 Unauthorized");
            } else {
                begin(context);
            }
        } catch (Refusal malformed) {
            refuse(context, "400 Bad Request");
        }
    }

    private void begin(ChannelHandlerContext context) {
        stopTimer();
        say(context, WELCOME);
        welcome.run();
        timer = context.executor()
                .scheduleAtFixedRate(
                        () -> say(context, "\n"), heartbeat.toNanos(), heartbeat.toNanos(), TimeUnit.NANOSECONDS);
    }

    private static void say(ChannelHandlerContext context, String text) {
        var _ = context.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    private static void refuse(ChannelHandlerContext context, String status) {
        String head = "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        context.writeAndFlush(Unpooled.copiedBuffer(head, StandardCharsets.US_ASCII))
                .addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        var _ = context.close();
    }
}
