package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.IpAddress;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A server outside, on an address of the loopback network. */
public final class Origin implements AutoCloseable {

    /** What it does with a connection. */
    @FunctionalInterface
    interface Script {
        void play(Peer peer) throws IOException;
    }

    /** Says back what it hears until it hears no more. */
    public static final Script ECHO = peer -> {
        peer.socket().getInputStream().transferTo(peer.socket().getOutputStream());
        peer.endOutput();
    };

    private final ServerSocket server;
    private final Thread accepting;
    private final AtomicInteger accepted = new AtomicInteger();
    private final List<Throwable> faults = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    public Origin(String address, Script script) throws IOException {
        this(address, 0, script);
    }

    public Origin(String address, int port, Script script) throws IOException {
        server = new ServerSocket(port, 1024, IpAddress.parse(address).toInetAddress());
        accepting = Thread.startVirtualThread(() -> accept(script));
    }

    private void accept(Script script) {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                accepted.incrementAndGet();
                sockets.add(socket);
                Thread.startVirtualThread(() -> play(socket, script));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void play(Socket socket, Script script) {
        try (Peer peer = new Peer(socket)) {
            script.play(peer);
        } catch (SocketException reset) {
            // The other side has gone.
        } catch (IOException | RuntimeException | AssertionError e) {
            faults.add(e);
        }
    }

    public int port() {
        return server.getLocalPort();
    }

    /** How many connections came. */
    public int accepted() {
        return accepted.get();
    }

    public List<Throwable> faults() {
        return faults;
    }

    /** Returns when nobody can connect any more: a socket listens until the thread that waits at it has let go of it. */
    @Override
    public void close() throws IOException {
        server.close();
        try {
            accepting.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
