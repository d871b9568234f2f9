package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Bodies that nobody takes, as many as a replica lets in. */
class SlowReadersTest {

    /** Before bodies had a pace, each of them held a mebibyte. */
    private static final long MOST_OF_ONE = 128 * 1024;

    /** So many that what the allocator keeps for its threads counts little. */
    private static final int VISITS = 32;

    private static final byte[] PIECE = new byte[64 * 1024];

    private final PortGateway gateway = new PortGateway(VISITS);
    private final List<Socket> clients = new ArrayList<>();
    private final AtomicLong moved = new AtomicLong();

    @AfterEach
    void stop() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        gateway.close();
    }

    private static long held() {
        return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
                .metric()
                .usedDirectMemory();
    }

    private Socket ask(String sandbox, int port, String method, String headers) throws IOException {
        var client = new Socket();
        clients.add(client);
        client.setReceiveBufferSize(16 * 1024);
        client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
        String head =
                "%s /sandboxes/default/%s/ports/%d/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n"
                        .formatted(method, sandbox, port, PortGateway.ALICE, headers);
        client.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
        return client;
    }

    private void send(Socket to) throws IOException {
        while (true) {
            to.getOutputStream().write(PIECE);
            moved.addAndGet(PIECE.length);
        }
    }

    /** Until the systems' buffers are full as well. */
    private void standStill() {
        long[] last = {-1};
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(700))
                .until(() -> last[0] == (last[0] = moved.get()) && moved.get() > (long) VISITS * PIECE.length);
    }

    @Tag("slow")
    @Test
    void answers() throws Exception {
        try (Upstream upstream = new Upstream((connection, head) -> {
            connection.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            send(connection);
        })) {
            gateway.sandbox("box", "uid-1", upstream.port());
            gateway.sandbox("bag", "uid-2", upstream.port());
            long before = held();
            for (int i = 0; i < VISITS; i++) {
                ask(i % 2 == 0 ? "box" : "bag", upstream.port(), "GET", "");
            }
            standStill();
            assertThat(held() - before).isLessThan(VISITS * MOST_OF_ONE);
        }
    }

    @Test
    void requests() throws Exception {
        try (Upstream upstream = new Upstream((connection, head) -> new CountDownLatch(1).await())) {
            gateway.sandbox("box", "uid-1", upstream.port());
            gateway.sandbox("bag", "uid-2", upstream.port());
            long before = held();
            for (int i = 0; i < VISITS; i++) {
                Socket client =
                        ask(i % 2 == 0 ? "box" : "bag", upstream.port(), "POST", "Content-Length: 4294967296\r\n");
                Thread.ofVirtual().start(() -> {
                    try {
                        send(client);
                    } catch (IOException over) {
                        // The test is.
                    }
                });
            }
            standStill();
            assertThat(held() - before).isLessThan(VISITS * MOST_OF_ONE);
        }
    }
}
