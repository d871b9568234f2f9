package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.websocket.SocketSettings;
import java.io.DataInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * WebSockets of the hostile: frames that are begun and never ended, and readers that stand still, against the memory of a
 * replica that all tenants share.
 */
class SocketBudgetTest {

    private static final int FRAME = 128 * 1024;
    private static final int HALF = 100_000;
    private static final long MOST_OF_SANDBOX = 3L * HALF;
    private static final long MOST_OF_TENANT = 5L * HALF;
    private static final long MOST = 6L * HALF;

    private final List<AutoCloseable> open = new ArrayList<>();
    private PortGateway gateway = gateway(Duration.ofSeconds(30));

    private static PortGateway gateway(Duration frameTimeout) {
        return new PortGateway(new SocketSettings(FRAME, MOST_OF_SANDBOX, MOST_OF_TENANT, MOST, frameTimeout));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        gateway.close();
    }

    private <T extends AutoCloseable> T kept(T closeable) {
        open.add(closeable);
        return closeable;
    }

    /** A server that begins one frame on each socket, and goes on only when the socket ends. */
    private Upstream halfFrames(int come) {
        return kept(new Upstream((connection, head) -> {
            connection.getOutputStream().write(RawSocket.accepted(head));
            connection.getOutputStream().write(RawSocket.frame(FRAME, come, false));
            while (connection.getInputStream().read() >= 0) {
                // Until the gateway hangs up.
            }
        }));
    }

    /** A server that sends back, without masks, what it is sent. */
    private Upstream echo() {
        return kept(new Upstream((connection, head) -> {
            connection.getOutputStream().write(RawSocket.accepted(head));
            var in = new DataInputStream(connection.getInputStream());
            while (true) {
                in.readUnsignedByte();
                int length = in.readUnsignedByte() & 0x7f;
                long payload = length < 126 ? length : length == 126 ? in.readUnsignedShort() : in.readLong();
                in.skipNBytes(4 + payload);
                connection.getOutputStream().write(RawSocket.frame((int) payload, (int) payload, false));
            }
        }));
    }

    private RawSocket client(String sandbox, Upstream server) throws IOException {
        return client("default", PortGateway.ALICE, sandbox, server);
    }

    private RawSocket client(String tenant, String key, String sandbox, Upstream server) throws IOException {
        String path = "/sandboxes/%s/%s/ports/%d/".formatted(tenant, sandbox, server.port());
        return kept(RawSocket.open(gateway, key, path));
    }

    private RawSocket sandboxWith(String name, Upstream server) throws IOException {
        gateway.sandbox(name, "uid-of-" + name, server.port());
        return client(name, server).reading();
    }

    private RawSocket othersSandboxWith(String name, Upstream server) throws IOException {
        gateway.sandbox("other", name, "uid-of-others-" + name, server.port());
        return client("other", PortGateway.BOB, name, server).reading();
    }

    private static String endOf(RawSocket socket) throws Exception {
        return socket.closed.get(10, TimeUnit.SECONDS);
    }

    @Test
    void halfFramesOfOneSandboxTakeNoMoreThanItsShareAndOthersGoOn() throws Exception {
        Upstream attacker = halfFrames(HALF - 10);
        List<RawSocket> taken = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            taken.add(sandboxWith("attacker", attacker));
        }
        await().until(() -> gateway.frameBytes() == MOST_OF_SANDBOX);

        RawSocket oneMore = client("attacker", attacker).reading();
        assertThat(endOf(oneMore))
                .isEqualTo("1013 This sandbox's WebSockets hold 300000 bytes of frames, the most."
                        + " Send less at once, read faster, or try later.");

        RawSocket neighbour = sandboxWith("neighbour", echo());
        neighbour.send(RawSocket.frame(FRAME, FRAME, true));
        await().until(() -> gateway.frameBytes() == MOST_OF_SANDBOX);
        assertThat(taken).noneMatch(socket -> socket.closed.isDone());
        assertThat(neighbour.closed).isNotDone();
    }

    @Test
    void halfFramesOfManySandboxesTakeNoMoreThanTheirTenantsShareAndOtherTenantsGoOn() throws Exception {
        Upstream attacker = halfFrames(HALF - 10);
        for (int i = 0; i < 5; i++) {
            sandboxWith("attacker-" + i, attacker);
        }
        await().until(() -> gateway.frameBytes() == MOST_OF_TENANT);

        assertThat(endOf(sandboxWith("late", attacker))).startsWith("1013 This tenant's WebSockets hold 500000 bytes");
        RawSocket neighbour = othersSandboxWith("neighbour", echo());
        neighbour.send(RawSocket.frame(HALF / 2, HALF / 2, true));
        await().until(() -> gateway.frameBytes() == MOST_OF_TENANT);
        assertThat(neighbour.closed).isNotDone();
    }

    @Test
    void halfFramesOfManyTenantsTakeNoMoreThanTheReplicasShare() throws Exception {
        Upstream attacker = halfFrames(HALF - 10);
        for (int i = 0; i < 5; i++) {
            sandboxWith("attacker-" + i, attacker);
        }
        othersSandboxWith("attacker", attacker);
        await().until(() -> gateway.frameBytes() == MOST);

        assertThat(endOf(othersSandboxWith("late", attacker)))
                .startsWith("1013 This replica's WebSockets hold 600000 bytes");
        await().until(() -> gateway.frameBytes() == MOST);
    }

    @Test
    void halfFramesOfClientsCountLikeThoseOfSandboxes() throws Exception {
        Upstream server = echo();
        for (int i = 0; i < 3; i++) {
            sandboxWith("box", server).send(RawSocket.frame(FRAME, HALF - 14, true));
        }
        await().until(() -> gateway.frameBytes() == MOST_OF_SANDBOX);

        RawSocket oneMore = client("box", server).reading();
        oneMore.send(RawSocket.frame(FRAME, 1, true));

        assertThat(endOf(oneMore)).startsWith("1013 This sandbox's WebSockets");
    }

    @Test
    void allIsGivenBackWhenSocketsEnd() throws Exception {
        Upstream attacker = halfFrames(HALF - 10);
        RawSocket one = sandboxWith("attacker", attacker);
        RawSocket two = sandboxWith("attacker", attacker);
        await().until(() -> gateway.frameBytes() == 2L * HALF);

        one.close();
        await().until(() -> gateway.frameBytes() == HALF);
        two.close();
        await().until(() -> gateway.frameBytes() == 0);
    }

    @Test
    void allIsGivenBackWhenFramesArePassedOn() throws Exception {
        RawSocket socket = sandboxWith("box", echo());
        for (int size : new int[] {0, 1, 125, 126, 65_535, 65_536, FRAME}) {
            socket.send(RawSocket.frame(size, size, true));
            await().until(() -> gateway.frameBytes() == 0);
        }
        assertThat(socket.closed).isNotDone();
    }

    @Test
    void aReaderThatStandsStillHoldsUpItsSenderAndNoMemoryIsKeptBehindIt() throws Exception {
        Upstream flood = kept(new Upstream((connection, head) -> {
            connection.getOutputStream().write(RawSocket.accepted(head));
            while (true) {
                connection.getOutputStream().write(RawSocket.frame(FRAME / 2, FRAME / 2, false));
            }
        }));
        gateway.sandbox("flood", "uid-of-flood", flood.port());
        RawSocket still = client("flood", flood);
        await().until(() -> gateway.frameBytes() > FRAME / 2);

        RawSocket neighbour = sandboxWith("neighbour", echo());
        neighbour.send(RawSocket.frame(FRAME, FRAME, true));
        assertThat(gateway.frameBytes()).isLessThanOrEqualTo(MOST);

        still.close();
        await().until(() -> gateway.frameBytes() == 0);
    }

    @Tag("slow")
    @Test
    void aFrameThatStaysIncompleteIsEndedWithTheRule() throws Exception {
        gateway.close();
        gateway = gateway(Duration.ofSeconds(1));

        assertThat(endOf(sandboxWith("box", halfFrames(HALF))))
                .isEqualTo("1008 A frame must be whole within 1 s. Send smaller ones.");
        RawSocket client = sandboxWith("other", echo());
        client.send(RawSocket.frame(FRAME, HALF, true));
        assertThat(endOf(client)).startsWith("1008 A frame must be whole within 1 s.");
        await().until(() -> gateway.frameBytes() == 0);
    }

    @Test
    void aFrameThatIsTooBigIsEndedWithTheRule() throws Exception {
        RawSocket client = sandboxWith("box", echo());
        client.send(RawSocket.frame(FRAME + 1, 0, true));

        assertThat(endOf(client)).isEqualTo("1009 A frame may have 131072 bytes. Send smaller ones.");
    }

    /** The very first bytes of a sandbox's server, which come with its answer, are counted too. */
    @Test
    void whatComesTogetherWithTheAnswerIsCounted() throws Exception {
        Upstream hasty = kept(new Upstream((connection, head) -> {
            byte[] accepted = RawSocket.accepted(head);
            byte[] begun = RawSocket.frame(FRAME, 1000, false);
            byte[] together = Arrays.copyOf(accepted, accepted.length + begun.length);
            System.arraycopy(begun, 0, together, accepted.length, begun.length);
            connection.getOutputStream().write(together);
            while (connection.getInputStream().read() >= 0) {
                // Until the gateway hangs up.
            }
        }));
        RawSocket socket = sandboxWith("box", hasty);

        await().until(() -> gateway.frameBytes() == 1010);
        assertThat(socket.closed).isNotDone();
    }
}
