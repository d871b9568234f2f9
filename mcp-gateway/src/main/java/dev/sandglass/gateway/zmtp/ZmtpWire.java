package dev.sandglass.gateway.zmtp;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.EventExecutor;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A DEALER socket of ZeroMQ with CURVE, connected once, as a channel of Netty. On the channel's event loop only.
 *
 * <p>Much of what comes in makes us send something: pings, content of files, output. While the far side does not read that,
 * this socket reads nothing more, so that what waits for it stays as small as the channel's water marks. Such a far side
 * counts as silent, and the heartbeat ends the connection.
 */
public final class ZmtpWire extends ByteToMessageDecoder {

    /** Most bytes of a message. */
    static final int MAX_MESSAGE = 16 * 1024 * 1024;

    /** Most bytes of a command of the handshake. */
    static final int MAX_COMMAND = 1024;

    /** Most bytes that wait to be sent: callers add to it as well, by calls that they give up. */
    static final int MAX_UNSENT = 16 * 1024 * 1024;

    private static final Logger LOG = LoggerFactory.getLogger(ZmtpWire.class);

    private static final long HEARTBEAT = TimeUnit.SECONDS.toNanos(10);
    private static final long HEARTBEAT_TIMEOUT = TimeUnit.SECONDS.toNanos(20);
    // Tenths of a second after which the far side may take us for gone.
    private static final short HEARTBEAT_TTL = 300;
    private static final byte[] PING = Zmtp.name("PING");
    private static final byte[] PONG = Zmtp.name("PONG");
    private static final byte[] ERROR = Zmtp.name("ERROR");
    private static final int MAX_PING_CONTEXT = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Listener listener;
    private final Executor turns;
    private final int maxFrames;
    private final CurveHandshake handshake;
    private final Queue<byte[][]> waiting = new ArrayDeque<>();
    private final List<byte[]> frames = new ArrayList<>();
    private int frameBytes;

    private @Nullable Channel channel;
    private boolean greeted;
    private CurveHandshake.@Nullable Initiated initiated;
    private @Nullable CurveMessages messages;
    private @Nullable Future<?> heartbeat;
    private long heard;
    private boolean closed;

    private ZmtpWire(Setup setup, Listener listener, Executor turns) {
        this.listener = listener;
        this.turns = turns;
        this.maxFrames = setup.maxFrames();
        byte[] type = "DEALER".getBytes(StandardCharsets.US_ASCII);
        byte[] metadata = Zmtp.join(Zmtp.property("Socket-Type", type), Zmtp.property("Identity", setup.identity()));
        this.handshake = new CurveHandshake(setup.keys(), metadata, ZmtpWire::random);
    }

    /**
     * What a connection begins with.
     *
     * @param address of the far side
     * @param keys of both sides
     * @param identity how a ROUTER on the far side names this socket, at most 255 bytes
     * @param maxFrames most frames of a message that comes in; of a longer one the listener gets one more than that
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Setup(SocketAddress address, CurveKeys keys, byte[] identity, int maxFrames) {}

    /** Hears what becomes of a connection, on its event loop. */
    public interface Listener {

        /** TCP stands. */
        void connected();

        /** The far side speaks ZeroMQ with CURVE. */
        void greeted();

        /** A message came in.  */
        void received(List<byte[]> frames);

        /** The far side reads again, after it did not. */
        void ready();

        /** The connection failed; said once, before {@link #closed()}, and not after {@link ZmtpWire#close()}. */
        void broken(String why);

        /** It is over, however it ended; said once. */
        void closed();
    }

    /**
     * Begins to connect.
     *
     * @param bootstrap of one event loop
     * @param turns runs what must not happen in the middle of something else, on that event loop
     */
    public static ZmtpWire open(Bootstrap bootstrap, Setup setup, Listener listener, Executor turns) {
        ZmtpWire wire = new ZmtpWire(setup, listener, turns);
        ChannelFuture connecting = bootstrap.clone().handler(wire).connect(setup.address());
        wire.channel = connecting.channel();
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                String why = done.cause() instanceof ConnectException
                        ? "it refuses connections"
                        : "it cannot be reached: " + done.cause().getMessage();
                // If no channel could be made, Netty reports that on a thread of its own.
                turns.execute(() -> wire.fail(why));
            }
        });
        return wire;
    }

    /** One on a channel that a test made; add it to the channel's pipeline. */
    static ZmtpWire on(Channel channel, Setup setup, Listener listener) {
        ZmtpWire wire = new ZmtpWire(setup, listener, channel.eventLoop());
        wire.channel = channel;
        return wire;
    }

    /** Sends a message; before the handshake is over it waits for that. */
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

    /** Whether the far side reads what is sent. What is long waits until it does. */
    public boolean isReady() {
        Channel to = channel;
        return !closed && (messages == null || (to != null && to.isWritable()));
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
        if (to.bytesBeforeWritable() > MAX_UNSENT) {
            // Not in the middle of what its connection does with it.
            turns.execute(() -> fail("it does not read what is sent to it"));
        }
    }

    /** Ends the connection. Nothing that was not sent yet is sent. */
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (heartbeat != null) {
            heartbeat.cancel(false);
        }
        listener.closed();
        // One that could not be made is on no loop, and cannot be closed.
        if (channel != null && channel.isRegistered()) {
            var _ = channel.close();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        heard = context.executor().ticker().nanoTime();
        if (!closed) {
            listener.connected();
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
    public void channelWritabilityChanged(ChannelHandlerContext context) throws Exception {
        super.channelWritabilityChanged(context);
        boolean writable = context.channel().isWritable();
        context.channel().config().setAutoRead(writable);
        if (writable) {
            // Not in the middle of what is being read or written.
            turns.execute(() -> goOn(context));
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        if (context.channel().config().isAutoRead()) {
            super.channelReadComplete(context);
        } else {
            // Netty's decoder would read on until it has a message.
            discardSomeReadBytes();
            context.fireChannelReadComplete();
        }
    }

    private void goOn(ChannelHandlerContext context) {
        if (isReady()) {
            listener.ready();
            // What was read already and not looked at.
            context.pipeline().fireChannelRead(Unpooled.EMPTY_BUFFER);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        heard = context.executor().ticker().nanoTime();
        try {
            boolean more = true;
            while (more && !closed && context.channel().isWritable()) {
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
        listener.greeted();
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
        beatLater(context.executor());
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
        if (frames.size() <= maxFrames) {
            frames.add(frame.body());
        }
        if (!frame.has(Zmtp.MORE)) {
            List<byte[]> message = List.copyOf(frames);
            frames.clear();
            frameBytes = 0;
            listener.received(message);
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
        Channel to = channel;
        if (closed || open == null || to == null) {
            return;
        }
        if (to.eventLoop().ticker().nanoTime() - heard >= HEARTBEAT_TIMEOUT) {
            fail("it does not answer any more");
            return;
        }
        byte[] ping = ByteBuffer.allocate(PING.length + Short.BYTES)
                .put(PING)
                .putShort(HEARTBEAT_TTL)
                .array();
        write(open, List.of(new Zmtp.Frame(Zmtp.BOXED_COMMAND, ping)));
        beatLater(to.eventLoop());
    }

    private void beatLater(EventExecutor loop) {
        heartbeat = loop.schedule(() -> turns.execute(this::beat), HEARTBEAT, TimeUnit.NANOSECONDS);
    }

    private void fail(String why) {
        if (!closed) {
            listener.broken(why);
            // Unless the listener did.
            close();
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
