package dev.sandglass.gateway.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The server's end of CURVE over a real socket, without a library's manners: it reads and says what a test wants. */
public final class CurveServer implements AutoCloseable {

    private static final int SMALL = 8 * 1024;
    private static final int LONG_NONCE = 16;

    private final ServerSocket server;
    private final byte[] secret;
    private @Nullable Socket socket;
    private @Nullable CurveBox session;
    private long next = 2;

    /** Listens on a port of loopback with that secret key. */
    public CurveServer(byte[] secret) throws IOException {
        this.secret = secret;
        server = new ServerSocket();
        server.setReceiveBufferSize(SMALL);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /** The port on which it listens. */
    public int port() {
        return server.getLocalPort();
    }

    /** A server's greeting. */
    public static byte[] greeting() {
        return Zmtp.greeting();
    }

    /** A command as it is sent outside of boxes. */
    public static byte[] command(String name, byte[] rest) {
        byte[] body = Zmtp.join(Zmtp.name(name), rest);
        return Zmtp.join(new byte[] {Zmtp.COMMAND, (byte) body.length}, body);
    }

    /** Takes one connection, up to the end of its handshake. */
    public void accept() throws IOException {
        Socket accepted = server.accept();
        socket = accepted;
        DataInputStream in = new DataInputStream(accepted.getInputStream());
        OutputStream out = accepted.getOutputStream();
        in.readNBytes(Zmtp.GREETING);
        out.write(Zmtp.greeting());
        CurveServerHandshake handshake = new CurveServerHandshake(secret);
        write(handshake.welcome(frame(in).body()));
        frame(in);
        write(handshake.ready());
        session = handshake.session();
    }

    /** The next message that came in. */
    public List<byte[]> message() throws IOException {
        DataInputStream in = new DataInputStream(connection().getInputStream());
        List<byte[]> frames = new ArrayList<>();
        byte flags = Zmtp.MORE;
        while ((flags & Zmtp.MORE) != 0) {
            byte[] boxed = frame(in).body();
            int numberAt = Zmtp.name("MESSAGE").length;
            byte[] number = Arrays.copyOfRange(boxed, numberAt, numberAt + Long.BYTES);
            byte[] plain = Objects.requireNonNull(session)
                    .open(Zmtp.join(ascii("CurveZMQMESSAGEC"), number), boxed, numberAt + Long.BYTES);
            flags = plain[0];
            frames.add(Arrays.copyOfRange(plain, 1, plain.length));
        }
        return frames;
    }

    /** Says a message. */
    public void say(List<byte[]> frames) throws IOException {
        ByteBuf out = Unpooled.buffer();
        for (int i = 0; i < frames.size(); i++) {
            Zmtp.write(out, sealed(i < frames.size() - 1 ? Zmtp.MORE : 0, frames.get(i)));
        }
        flush(out);
    }

    /** Asks for so many signs of life at once. */
    public void ping(int times) throws IOException {
        byte[] ping = Zmtp.join(Zmtp.name("PING"), new byte[2], new byte[LONG_NONCE]);
        ByteBuf out = Unpooled.buffer();
        for (int i = 0; i < times; i++) {
            Zmtp.write(out, sealed(Zmtp.BOXED_COMMAND, ping));
        }
        flush(out);
    }

    /** Leaves out a number, as if a message had been dropped on the way. */
    public void skip() {
        next++;
    }

    private Zmtp.Frame sealed(byte flags, byte[] body) {
        return CurveServerHandshake.sealed(Objects.requireNonNull(session), next++, flags, body);
    }

    private void write(Zmtp.Frame frame) throws IOException {
        ByteBuf out = Unpooled.buffer();
        Zmtp.write(out, frame);
        flush(out);
    }

    private void flush(ByteBuf out) throws IOException {
        out.readBytes(connection().getOutputStream(), out.readableBytes());
    }

    /** The connection that it took. */
    public Socket connection() {
        return Objects.requireNonNull(socket, "nothing was accepted");
    }

    private static Zmtp.Frame frame(DataInputStream in) throws IOException {
        byte flags = in.readByte();
        boolean isLong = (flags & 2) != 0;
        int length = isLong ? (int) ByteBuffer.wrap(in.readNBytes(Long.BYTES)).getLong() : in.readUnsignedByte();
        return new Zmtp.Frame(flags, in.readNBytes(length));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        server.close();
        if (socket != null) {
            socket.close();
        }
    }
}
