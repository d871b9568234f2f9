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
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A far side of bytes that does not keep to the protocol: the caller is told so, and no call of another is touched. */
class ZmtpWireTest {

    private static final LinkSecret SECRET =
            new LinkSecret("a link secret of at least 32 bytes".getBytes(StandardCharsets.US_ASCII));
    private static final int GREETING = CurveServer.greeting().length;
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final LinkClient client = TestLinks.start(SECRET);

    @AfterEach
    void stop() {
        client.close();
    }

    @Test
    void aWebServer() throws Exception {
        assertThat(troubleWith((in, out) ->
                        out.write("HTTP/1.1 400 Bad Request\r\n".repeat(9).getBytes(StandardCharsets.US_ASCII))))
                .contains("it does not speak ZeroMQ");
    }

    @Test
    void oneWhoGreetsAndHangsUp() throws Exception {
        assertThat(troubleWith((in, out) -> out.write(CurveServer.greeting()))).contains("closed by the other side");
    }

    @Test
    void oneWhoAnnouncesMoreThanAHandshakeNeeds() throws Exception {
        byte[] head = {6, 0, 0, 0, 0, 0x7F, 0, 0, 0};
        assertThat(troubleWith((in, out) -> greetAnd(out, head))).contains("more than 1024 bytes");
    }

    @Test
    void oneWithoutThePodsKey() throws Exception {
        byte[] welcome = CurveServer.command("WELCOME", new byte[160]);
        assertThat(troubleWith((in, out) -> greetAnd(out, welcome))).contains("not sealed with the right keys");
    }

    @Test
    void oneWhoDoesNotAdmitUs() throws Exception {
        byte[] error = CurveServer.command("ERROR", "\003400".getBytes(StandardCharsets.US_ASCII));
        assertThat(troubleWith((in, out) -> greetAnd(out, error))).contains("the encrypted handshake failed");
    }

    @Test
    void whoWeAreIsNotSaidInTheClear() throws Exception {
        byte[][] seen = new byte[1][];
        troubleWith((in, out) -> {
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

    @Test
    void nobodyThere() throws Exception {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = taken.getLocalPort();
        }
        assertThat(trouble(port)).contains("it refuses connections");
    }

    private String troubleWith(FarSide farSide) throws IOException {
        AtomicInteger served = new AtomicInteger();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> serve(server, farSide, served));
            String trouble = trouble(server.getLocalPort());
            assertThat(served).hasPositiveValue();
            return trouble;
        }
    }

    private String trouble(int port) {
        LinkTarget target = new LinkTarget("uid", 1, "127.0.0.1", port);
        CompletableFuture<Answer> answer = client.link(target).ask(new Verb.Metrics(), PATIENCE);
        await().until(answer::isDone);
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
