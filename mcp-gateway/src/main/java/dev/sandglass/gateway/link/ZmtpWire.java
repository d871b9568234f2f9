package dev.sandglass.gateway.link;

import dev.sandglass.api.LinkKeys;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A DEALER socket of ZeroMQ with CURVE, connected once, as a channel of Netty. On the channel's event loop only. */
final class ZmtpWire extends ByteToMessageDecoder implements Wire {

    /** Most bytes of a message. */
    static final int MAX_MESSAGE = 16 * 1024 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(ZmtpWire.class);

    private static final long HEARTBEAT = TimeUnit.SECONDS.toNanos(10);
    private static final long HEARTBEAT_TIMEOUT = TimeUnit.SECONDS.toNanos(20);
    // Tenths of a second after which the far side may take us for gone.
    private static final short HEARTBEAT_TTL = 300;
    private static final byte[] PING = Zmtp.name("PING");
    private static final byte[] PONG = Zmtp.name("PONG");
    private static final byte[] ERROR = Zmtp.name("ERROR");
    private static final int MAX_PING_CONTEXT = 16;
    private static final int MAX_COMMAND = 1024;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Connection connection;
    private final Connection.Owner owner;
    private final Runnable onClose;
    private final CurveHandshake handshake;
    private final Queue<byte[][]> waiting = new ArrayDeque<>();
    private final List<byte[]> frames = new ArrayList<>(InboundFrames.MAX_FRAMES);
    private int frameBytes;

    private @Nullable Channel channel;
    private boolean greeted;
    private CurveHandshake.@Nullable Initiated initiated;
    private @Nullable CurveMessages messages;
    private Timers.@Nullable Timer heartbeat;
    private long heard;
    private boolean closed;

    private ZmtpWire(Connection connection, Connection.Owner owner, LinkKeys keys, Runnable onClose) {
        this.connection = connection;
        this.owner = owner;
        this.onClose = onClose;
        byte[] type = "DEALER".getBytes(StandardCharsets.US_ASCII);
        byte[] metadata = Zmtp.join(
                Zmtp.property("Socket-Type", type),
                Zmtp.property("Identity", connection.dialling().identity()));
        this.handshake = new CurveHandshake(keys, metadata, ZmtpWire::random);
    }

    /** Begins to connect. */
    static ZmtpWire open(
            Bootstrap bootstrap, Connection connection, Connection.Owner owner, LinkKeys keys, Runnable onClose) {
        ZmtpWire wire = new ZmtpWire(connection, owner, keys, onClose);
        ChannelFuture connecting = bootstrap
                .clone()
                .handler(wire)
                .connect(connection.dialling().target().address());
        wire.channel = connecting.channel();
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                String why = done.cause() instanceof ConnectException
                        ? "it refuses connections"
                        : "it cannot be reached: " + done.cause().getMessage();
                // Of a channel that could not even be made Netty tells on a thread that is nobody's.
                owner.execute(() -> wire.fail(why));
            }
        });
        return wire;
    }

    @Override
    public void send(byte[][] message) {
        CurveMessages open = messages;
        if (open == null) {
            waiting.add(message);
            return;
        }
        List<Zmtp.Frame> parts = new ArrayList<>(message.length);
        for (int i = 0; i < message.length; i++) {
            parts.add(new Zmtp.Frame(i < message.length - 1 ? Zmtp.MORE : 0, message[i]));
        }
        write(open, parts);
    }

    private void write(CurveMessages open, List<Zmtp.Frame> parts) {
        Channel to = channel;
        if (to == null || closed) {
            return;
        }
        int length = parts.stream()
                .mapToInt(part -> Zmtp.MAX_HEAD + CurveMessages.OVERHEAD + part.body().length)
                .sum();
        ByteBuf out = to.alloc().buffer(length);
        parts.forEach(part -> Zmtp.write(out, open.seal(part)));
        var _ = to.writeAndFlush(out, to.voidPromise());
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (heartbeat != null) {
            heartbeat.cancel();
        }
        onClose.run();
        // One that could not be made is on no loop, and cannot be closed.
        if (channel != null && channel.isRegistered()) {
            var _ = channel.close();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        heard = owner.timers().now();
        if (!closed) {
            connection.dialling().connected(this);
            // All of it at once: whoever does not speak our version is of no use.
            var _ = context.writeAndFlush(context.alloc().buffer(Zmtp.GREETING).writeBytes(Zmtp.greeting()));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        super.channelInactive(context);
        fail("the connection was closed by the other side");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail("the connection broke: " + cause.getMessage());
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        heard = owner.timers().now();
        try {
            boolean more = true;
            while (more && !closed) {
                more = step(context, in);
            }
        } catch (WireException odd) {
            fail(odd.text());
        } catch (RuntimeException fault) {
            LOG.atError().setCause(fault).log("A step of a link failed");
            fail("a fault in the gateway");
        }
        if (closed) {
            in.skipBytes(in.readableBytes());
        }
    }

    /** Takes one thing that came in; false if it is not all there yet. */
    private boolean step(ChannelHandlerContext context, ByteBuf in) {
        if (!greeted) {
            return greeting(context, in);
        }
        CurveMessages open = messages;
        Zmtp.Frame frame = Zmtp.read(in, open == null ? MAX_COMMAND : MAX_MESSAGE + CurveMessages.OVERHEAD);
        if (frame == null) {
            return false;
        }
        if (open == null) {
            handshake(context, frame);
        } else {
            received(open, open.open(frame.body()));
        }
        return true;
    }

    private boolean greeting(ChannelHandlerContext context, ByteBuf in) {
        if (in.readableBytes() < Zmtp.GREETING) {
            return false;
        }
        byte[] greeting = new byte[Zmtp.GREETING];
        in.readBytes(greeting);
        Zmtp.check(greeting);
        greeted = true;
        command(context, handshake.hello());
        connection.dialling().greeted(this);
        return true;
    }

    private void handshake(ChannelHandlerContext context, Zmtp.Frame frame) {
        if (!frame.has(Zmtp.COMMAND) || Zmtp.isNamed(frame.body(), ERROR)) {
            throw new WireException("the encrypted handshake failed");
        }
        CurveHandshake.Initiated before = initiated;
        if (before == null) {
            CurveHandshake.Initiated now = handshake.initiate(frame.body());
            initiated = now;
            command(context, now.command());
            return;
        }
        messages = before.finish(frame.body());
        heartbeat = owner.timers().after(HEARTBEAT, this::beat);
        for (byte[][] message = waiting.poll(); message != null; message = waiting.poll()) {
            send(message);
        }
    }

    private static void command(ChannelHandlerContext context, Zmtp.Frame command) {
        ByteBuf out = context.alloc().buffer(Zmtp.MAX_HEAD + command.body().length);
        Zmtp.write(out, command);
        var _ = context.writeAndFlush(out, context.voidPromise());
    }

    private void received(CurveMessages open, Zmtp.Frame frame) {
        if (frame.has(Zmtp.BOXED_COMMAND)) {
            commanded(open, frame.body());
            return;
        }
        frameBytes += frame.body().length;
        if (frameBytes > MAX_MESSAGE) {
            throw new WireException("it sent a message of more than " + MAX_MESSAGE + " bytes");
        }
        // Frames beyond what a message may have are dropped but for one, so that it does not decode.
        if (frames.size() <= InboundFrames.MAX_FRAMES) {
            frames.add(frame.body());
        }
        if (!frame.has(Zmtp.MORE)) {
            Inbound message = InboundFrames.decode(frames);
            frames.clear();
            frameBytes = 0;
            connection.received(this, message);
        }
    }

    private void commanded(CurveMessages open, byte[] command) {
        int context = PING.length + Short.BYTES;
        if (Zmtp.isNamed(command, PING) && command.length >= context && command.length <= context + MAX_PING_CONTEXT) {
            byte[] pong = Zmtp.join(PONG, Arrays.copyOfRange(command, context, command.length));
            write(open, List.of(new Zmtp.Frame(Zmtp.BOXED_COMMAND, pong)));
        }
    }

    private void beat() {
        CurveMessages open = messages;
        if (closed || open == null) {
            return;
        }
        if (owner.timers().now() - heard >= HEARTBEAT_TIMEOUT) {
            fail("it does not answer any more");
            return;
        }
        byte[] ping = ByteBuffer.allocate(PING.length + Short.BYTES)
                .put(PING)
                .putShort(HEARTBEAT_TTL)
                .array();
        write(open, List.of(new Zmtp.Frame(Zmtp.BOXED_COMMAND, ping)));
        heartbeat = owner.timers().after(HEARTBEAT, this::beat);
    }

    private void fail(String why) {
        if (!closed) {
            connection.dialling().broken(this, why);
            // In case that nobody knew of it any more.
            close();
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
