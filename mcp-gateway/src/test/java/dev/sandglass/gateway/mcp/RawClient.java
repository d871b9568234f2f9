package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.testing.TestGateway;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;

/** A client on a bare socket: it can put off reading, and its close is the close of the connection. */
final class RawClient implements AutoCloseable {

    private final Socket socket = new Socket();
    private final Semaphore mayRead;
    private volatile String received = "";
    private volatile boolean ended;

    RawClient(TestGateway gateway, String body, String accept) throws IOException {
        this(gateway, TestGateway.KEY, accept, body.getBytes(StandardCharsets.UTF_8).length, body, true);
    }

    private RawClient(TestGateway gateway, String key, String accept, int declared, String body, boolean reads)
            throws IOException {
        mayRead = new Semaphore(reads ? 1 : 0);
        socket.setReceiveBufferSize(16 * 1024);
        URI uri = URI.create(gateway.base());
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), uri.getPort()));
        String head = """
                POST /mcp HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer %s\r
                Content-Type: application/json\r
                Accept: %s\r
                Content-Length: %d\r
                \r
                """.formatted(key, accept, declared);
        socket.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
        Thread.ofVirtual().start(this::read);
    }

    /** One that declares more than it sends. */
    static RawClient begun(TestGateway gateway, String key, int declared, String body) throws IOException {
        return new RawClient(gateway, key, "application/json", declared, body, true);
    }

    /** One that reads nothing of its answer before it is resumed. */
    static RawClient notReading(TestGateway gateway, String body, String accept) throws IOException {
        int length = body.getBytes(StandardCharsets.UTF_8).length;
        return new RawClient(gateway, TestGateway.KEY, accept, length, body, false);
    }

    /** The beginning of what came so far. */
    String received() {
        return received;
    }

    /** Whether the gateway ended the connection. */
    boolean isEnded() {
        return ended;
    }

    void resume() {
        mayRead.release();
    }

    private void read() {
        byte[] buffer = new byte[8192];
        var whole = new StringBuilder();
        try {
            InputStream in = socket.getInputStream();
            while (true) {
                mayRead.acquire();
                mayRead.release();
                int count = in.read(buffer);
                if (count < 0) {
                    ended = true;
                    return;
                }
                String more = new String(buffer, 0, count, StandardCharsets.UTF_8);
                if (whole.length() < 65_536) {
                    whole.append(more);
                    received = whole.toString();
                }
            }
        } catch (IOException closed) {
            ended = true;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
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
