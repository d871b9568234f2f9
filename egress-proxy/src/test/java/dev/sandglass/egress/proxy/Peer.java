package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.IpAddress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** One end of a connection, spoken byte by byte; waits at most half a minute for the other. */
public final class Peer implements AutoCloseable {

    private static final int PATIENCE_MS = 30_000;
    private static final int GLANCE_MS = 20;

    private final Socket socket;

    public Peer(Socket socket) throws SocketException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MS);
        socket.setTcpNoDelay(true);
    }

    /** Connects from that address of the loopback network. */
    public static Peer connect(String from, int port) throws IOException {
        return connect(from, "127.0.0.1", port);
    }

    public static Peer connect(String from, String to, int port) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(IpAddress.parse(from).toInetAddress(), 0));
        socket.connect(new InetSocketAddress(IpAddress.parse(to).toInetAddress(), port), PATIENCE_MS);
        return new Peer(socket);
    }

    public Socket socket() {
        return socket;
    }

    public void say(String text) throws IOException {
        say(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public void say(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    public void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Hears up to and with an empty line. */
    public String head() throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int letter = socket.getInputStream().read();
            if (letter < 0) {
                break;
            }
            text.append((char) letter);
        }
        return text.toString();
    }

    public String hear(int bytes) throws IOException {
        return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.ISO_8859_1);
    }

    /** Hears until the other side has ended, however it did. */
    public String rest() {
        ByteArrayOutputStream heard = new ByteArrayOutputStream();
        try {
            InputStream input = socket.getInputStream();
            for (int letter = input.read(); letter >= 0; letter = input.read()) {
                heard.write(letter);
            }
        } catch (SocketException reset) {
            // Ended without ceremony.
        } catch (IOException e) {
            throw new AssertionError("The other side neither ends nor says anything", e);
        }
        return heard.toString(StandardCharsets.ISO_8859_1);
    }

    /** Whether the other side has ended and had said nothing. */
    public boolean isEndedWithoutAWord() {
        try {
            socket.setSoTimeout(GLANCE_MS);
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException open) {
            return false;
        } catch (SocketException reset) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
