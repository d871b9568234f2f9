package dev.sandglass.gateway.execution;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;

/** A TCP relay on localhost whose connections can be cut in the middle of anything. */
final class CutProxy implements AutoCloseable {

    private final ServerSocket server;
    private final int target;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private volatile boolean refusing;
    private volatile boolean swallowing;
    private volatile boolean withholding;

    CutProxy(int target) {
        try {
            this.target = target;
            this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** Cuts all connections; new ones are let through. */
    void cut() {
        for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
            close(socket);
        }
    }

    /** Whether new connections are closed at once. */
    void refuse(boolean refuse) {
        refusing = refuse;
    }

    /** Whether what is said to the target is lost on its way. */
    void swallow(boolean swallow) {
        swallowing = swallow;
    }

    /** Whether what the target says is lost on its way. */
    void withhold(boolean withhold) {
        withholding = withhold;
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cut();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket near = server.accept();
                if (refusing) {
                    near.close();
                    continue;
                }
                Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                sockets.add(near);
                sockets.add(far);
                Thread.ofVirtual().start(() -> relay(near, far, () -> swallowing));
                Thread.ofVirtual().start(() -> relay(far, near, () -> withholding));
            } catch (IOException e) {
                // Closed, or the far side is away: the near side sees its connection end.
            }
        }
    }

    private void relay(Socket from, Socket to, BooleanSupplier isLost) {
        byte[] piece = new byte[8192];
        try (InputStream in = from.getInputStream()) {
            for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                if (!isLost.getAsBoolean()) {
                    to.getOutputStream().write(piece, 0, length);
                }
            }
        } catch (IOException e) {
            // Cut.
        }
        close(from);
        close(to);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
