package dev.sandglass.egress.testing;

import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/** A resolver on loopback that answers every question with the same code, or not at all. */
public final class LoopbackResolver implements AutoCloseable {

    public static final int NO_SUCH_NAME = 3;
    public static final int FAILURE = 2;
    public static final int REFUSED = 5;
    public static final int SILENT = -1;

    private static final int HEADER = 12;

    private final DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    private final AtomicInteger code;

    public LoopbackResolver(int code) throws IOException {
        this.code = new AtomicInteger(code);
        Thread.startVirtualThread(this::serve);
    }

    /** How it answers from now on. */
    public void answer(int now) {
        code.set(now);
    }

    /** For the proxy's own resolver. */
    public DnsServerAddressStreamProvider asServers() {
        return new SingletonDnsServerAddressStreamProvider(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), socket.getLocalPort()));
    }

    private void serve() {
        byte[] buffer = new byte[512];
        while (!socket.isClosed()) {
            DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
            try {
                socket.receive(packet);
                int now = code.get();
                if (now != SILENT) {
                    byte[] reply = Arrays.copyOf(buffer, endOfQuestion(buffer));
                    byte[] head = {(byte) 0x81, (byte) (0x80 | now), 0, 1, 0, 0, 0, 0, 0, 0};
                    System.arraycopy(head, 0, reply, 2, head.length);
                    socket.send(new DatagramPacket(reply, reply.length, packet.getSocketAddress()));
                }
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static int endOfQuestion(byte[] query) {
        int at = HEADER;
        while (query[at] != 0) {
            at += 1 + query[at];
        }
        return at + 5;
    }

    @Override
    public void close() {
        socket.close();
    }
}
