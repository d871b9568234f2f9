package dev.sandglass.gateway.port;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/** One end of a WebSocket, byte by byte: it may send parts of frames, and stop reading. */
public final class RawSocket implements AutoCloseable {

    private static final Pattern KEY = Pattern.compile("(?i)sec-websocket-key: *(\\S+)");
    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final int CLOSE = 8;

    /** The closing that came as {@code code reason}, or {@code broken} if none did. */
    final CompletableFuture<String> closed = new CompletableFuture<>();

    private final Socket socket;

    private RawSocket(Socket socket) {
        this.socket = socket;
    }

    /** A client of the gateway whose socket is open. */
    public static RawSocket open(PortGateway gateway, String key, String path) throws IOException {
        var socket = new Socket();
        socket.setReceiveBufferSize(16 * 1024);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
        String head = """
                GET %s HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer %s\r
                Connection: Upgrade\r
                Upgrade: websocket\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                \r
                """.formatted(path, key);
        socket.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
        String answer = head(socket);
        if (!answer.startsWith("HTTP/1.1 101")) {
            throw new IOException(answer);
        }
        return new RawSocket(socket);
    }

    /** What a server in a sandbox answers to such a request, so that the socket is open. */
    public static byte[] accepted(String head) {
        return accepted(head, "");
    }

    /** The same, with such lines in its head besides. */
    public static byte[] accepted(String head, String lines) {
        var key = KEY.matcher(head);
        if (!key.find()) {
            throw new IllegalArgumentException(head);
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1")
                    .digest((key.group(1) + GUID).getBytes(StandardCharsets.US_ASCII));
            return ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            + "Sec-WebSocket-Accept: " + Base64.getEncoder().encodeToString(digest) + "\r\n" + lines
                            + "\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The first bytes of a frame with so much content; a client masks it, with a key of zeros. */
    public static byte[] frame(int payload, int come, boolean byClient) {
        var frame = new ByteArrayOutputStream();
        frame.write(0x82);
        int more = payload < 126 ? 0 : payload < 65_536 ? Short.BYTES : Long.BYTES;
        frame.write((byClient ? 0x80 : 0) | (more == 0 ? payload : more == Short.BYTES ? 126 : 127));
        for (int i = more - 1; i >= 0; i--) {
            frame.write((int) ((long) payload >> (8 * i)) & 0xff);
        }
        frame.writeBytes(new byte[(byClient ? 4 : 0) + come]);
        return frame.toByteArray();
    }

    public void send(byte[] bytes) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(bytes);
        out.flush();
    }

    /** Reads from now on, until the end. */
    public RawSocket reading() {
        Thread.ofVirtual().start(this::read);
        return this;
    }

    private void read() {
        try (var in = new DataInputStream(socket.getInputStream())) {
            while (true) {
                int first = in.readUnsignedByte();
                int length = in.readUnsignedByte() & 0x7f;
                long bytes = length < 126 ? length : length == 126 ? in.readUnsignedShort() : in.readLong();
                if ((first & 0x0f) == CLOSE && bytes >= 2) {
                    closed.complete(in.readUnsignedShort() + " "
                            + new String(in.readNBytes((int) bytes - 2), StandardCharsets.UTF_8));
                } else {
                    in.skipNBytes(bytes);
                }
            }
        } catch (IOException over) {
            closed.complete("broken");
        }
    }

    /** What comes before a body. */
    public static String head(Socket socket) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                break;
            }
            head.append((char) next);
        }
        return head.toString();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
