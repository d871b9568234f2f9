package dev.sandglass.gateway.port;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that says whatever a test wants, byte by byte, once a request's headers have come. */
public final class Upstream implements AutoCloseable {

    /** What to do with a connection; it is closed afterwards. */
    public interface Manner {
        void serve(Socket connection, String head) throws IOException, InterruptedException;
    }

    public final AtomicInteger connections = new AtomicInteger();
    private final ServerSocket socket;
    private final Manner manner;

    public Upstream(Manner manner) {
        try {
            this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.manner = manner;
        Thread.ofVirtual().start(this::accept);
    }

    /** Answers that to everybody. */
    public static Upstream answering(String answer) {
        return new Upstream(
                (connection, head) -> connection.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8)));
    }

    public int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = socket.accept();
                connections.incrementAndGet();
                Thread.ofVirtual().start(() -> serve(connection));
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            manner.serve(connection, head(connection));
        } catch (IOException gone) {
            // The gateway hung up, which is its right.
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static String head(Socket connection) throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = connection.getInputStream().read();
            if (next < 0) {
                break;
            }
            head.append((char) next);
        }
        return head.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
