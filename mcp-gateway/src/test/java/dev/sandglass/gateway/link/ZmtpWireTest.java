package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.ConnectionTest.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestLinks;
import dev.sandglass.gateway.zmtp.CurveServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A far side of bytes that does not keep to the protocol: the caller is told so, and no call of another is touched. */
class ZmtpWireTest {

    private static final LinkSecret SECRET =
            new LinkSecret("a link secret of at least 32 bytes".getBytes(StandardCharsets.US_ASCII));
    private static final int GREETING = CurveServer.greeting().length;
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration SOON = Duration.ofSeconds(60);

    private final LinkClient client = TestLinks.start(SECRET);

    @AfterEach
    void stop() {
        client.close();
    }

    @Test
    void aWebServer() throws Exception {
        byte[] answer = "HTTP/1.1 400 Bad Request\r\n".repeat(9).getBytes(StandardCharsets.US_ASCII);
        troubleIs("it does not speak ZeroMQ", (in, out) -> out.write(answer));
    }

    @Tag("slow")
    @Test
    void oneWhoGreetsAndHangsUp() throws Exception {
        troubleIs("closed by the other side", (in, out) -> out.write(CurveServer.greeting()));
    }

    @Tag("slow")
    @Test
    void oneWhoAnnouncesMoreThanAHandshakeNeeds() throws Exception {
        byte[] head = {6, 0, 0, 0, 0, 0x7F, 0, 0, 0};
        troubleIs("more than 1024 bytes", (in, out) -> greetAnd(out, head));
    }

    @Test
    void oneWithoutThePodsKey() throws Exception {
        byte[] welcome = CurveServer.command("WELCOME", new byte[160]);
        troubleIs("not sealed with the right keys", (in, out) -> greetAnd(out, welcome));
    }

    @Tag("slow")
    @Test
    void oneWhoDoesNotAdmitUs() throws Exception {
        byte[] error = CurveServer.command("ERROR", "\003400".getBytes(StandardCharsets.US_ASCII));
        troubleIs("the encrypted handshake failed", (in, out) -> greetAnd(out, error));
    }

    @Test
    void whoWeAreIsNotSaidInTheClear() throws Exception {
        byte[][] seen = new byte[1][];
        troubleIs("", (in, out) -> {
            out.write(CurveServer.greeting());
            seen[0] = in.readNBytes(GREETING + 2 + 200);
        });
        String hello = new String(seen[0], GREETING + 2, 200, StandardCharsets.ISO_8859_1);
        byte[] ours = LinkKeys.derive(SECRET, "uid", 1).gateway().publicBytes();
        assertThat(hello)
                .startsWith("\5HELLO")
                .doesNotContain("Identity")
                .doesNotContain(new String(ours, StandardCharsets.ISO_8859_1));
    }

    @Tag("slow")
    @Test
    void nobodyThere() throws Exception {
        // Bound, so that nobody else gets it, and not listening.
        try (SocketChannel taken = SocketChannel.open()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            awaitTrouble("it refuses connections", taken.socket().getLocalPort());
        }
    }

    private void troubleIs(String words, FarSide farSide) throws IOException {
        AtomicInteger served = new AtomicInteger();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> serve(server, farSide, served));
            awaitTrouble(words, server.getLocalPort());
            await().atMost(SOON).until(() -> served.get() > 0);
        }
    }

    /** The first calls may be over before anything has come of a connection. */
    private void awaitTrouble(String words, int port) {
        await().atMost(SOON).untilAsserted(() -> assertThat(trouble(port)).contains(words));
    }

    private String trouble(int port) {
        LinkTarget target = new LinkTarget("uid", 1, "127.0.0.1", port);
        CompletableFuture<Answer> answer = client.link(target).ask(new Verb.Metrics(), PATIENCE);
        await().atMost(SOON).until(answer::isDone);
        return failure(answer).text();
    }

    private static void greetAnd(OutputStream out, byte[] more) throws IOException {
        out.write(CurveServer.greeting());
        out.write(more);
    }

    private static void serve(ServerSocket server, FarSide farSide, AtomicInteger served) {
        try {
            while (true) {
                try (Socket socket = server.accept()) {
                    farSide.speak(socket.getInputStream(), socket.getOutputStream());
                    served.incrementAndGet();
                    socket.shutdownOutput();
                    socket.getInputStream().readAllBytes();
                }
            }
        } catch (IOException closed) {
            // The test is over, or the gateway hung up first.
            if (!server.isClosed()) {
                serve(server, farSide, served);
            }
        }
    }

    /** What it does with a connection. */
    private interface FarSide {
        void speak(InputStream in, OutputStream out) throws IOException;
    }
}
