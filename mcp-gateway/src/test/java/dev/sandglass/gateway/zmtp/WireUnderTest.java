package dev.sandglass.gateway.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A wire on a channel without a network: a test says what the server sends, and sees what comes of it. */
final class WireUnderTest implements ZmtpWire.Listener {

    static final int MOST_FRAMES = 6;

    private static final byte[] SECRET = new byte[CurveKeys.LENGTH];

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final CurveServerHandshake server;
    private final ZmtpWire wire;
    private final ByteBuf out = Unpooled.buffer();
    private final List<String> broken = new ArrayList<>();
    private final List<List<byte[]>> received = new ArrayList<>();
    private int closed;

    /** A server with that secret key is connected and has not said anything. */
    WireUnderTest(byte[] serverSecret) {
        server = new CurveServerHandshake(serverSecret);
        CurveKeys keys = new CurveKeys(clientPublic(), SECRET, CurveServerHandshake.publicOf(serverSecret));
        wire = ZmtpWire.on(
                channel,
                new ZmtpWire.Setup(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), keys, new byte[] {1}, MOST_FRAMES),
                this);
        channel.pipeline().addLast(wire);
        channel.pipeline().fireChannelActive();
        flush();
    }

    /** The client's long-term public key, by which the server admits it. */
    static byte[] clientPublic() {
        return CurveServerHandshake.publicOf(SECRET);
    }

    CurveServerHandshake server() {
        return server;
    }

    ZmtpWire wire() {
        return wire;
    }

    /** The server sends a frame. */
    void say(Zmtp.Frame frame) {
        ByteBuf bytes = Unpooled.buffer();
        Zmtp.write(bytes, frame);
        byte[] whole = new byte[bytes.readableBytes()];
        bytes.readBytes(whole);
        send(whole);
    }

    /** The server sends bytes, unless the client hung up. */
    void send(byte[] bytes) {
        if (channel.isOpen()) {
            channel.writeInbound(Unpooled.wrappedBuffer(bytes));
            channel.runPendingTasks();
        }
        flush();
    }

    /** All that the client sent. */
    byte[] bytesSent() {
        return Arrays.copyOf(out.array(), out.writerIndex());
    }

    /** The names of the commands that the client sent after its greeting, boxed frames included. */
    List<String> sent() {
        return commands().stream().map(WireUnderTest::nameOf).toList();
    }

    /** The body of the client's hello. */
    byte[] hello() {
        return commands().getFirst();
    }

    private List<byte[]> commands() {
        ByteBuf rest = Unpooled.wrappedBuffer(out.array(), Zmtp.GREETING, out.writerIndex() - Zmtp.GREETING);
        List<byte[]> bodies = new ArrayList<>();
        for (Zmtp.Frame frame = Zmtp.read(rest, Integer.MAX_VALUE);
                frame != null;
                frame = Zmtp.read(rest, Integer.MAX_VALUE)) {
            bodies.add(frame.body());
        }
        return bodies;
    }

    private static String nameOf(byte[] command) {
        return new String(command, 1, command[0], StandardCharsets.US_ASCII);
    }

    private void flush() {
        for (ByteBuf written = channel.readOutbound(); written != null; written = channel.readOutbound()) {
            out.writeBytes(written);
            written.release();
        }
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Why the connection failed, once for each report. */
    List<String> broken() {
        return broken;
    }

    List<List<byte[]>> received() {
        return received;
    }

    /** How often the end was reported. */
    int timesClosed() {
        return closed;
    }

    /** Frees the channel. */
    void end() {
        wire.close();
        channel.finishAndReleaseAll();
    }

    @Override
    public void connected() {
        // Seen by what is sent.
    }

    @Override
    public void greeted() {
        // Seen by what is sent.
    }

    @Override
    public void received(List<byte[]> frames) {
        received.add(frames);
    }

    @Override
    public void ready() {
        // Nothing waits here.
    }

    @Override
    public void broken(String why) {
        broken.add(why);
    }

    @Override
    public void closed() {
        closed++;
    }
}
