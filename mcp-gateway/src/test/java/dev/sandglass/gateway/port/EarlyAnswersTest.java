package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Servers that answer before they have read a request's body, and read no more of it. */
class EarlyAnswersTest {

    private static final int BODY = 2 << 20;

    private final PortGateway gateway = new PortGateway();

    @AfterEach
    void stop() {
        gateway.close();
    }

    private String statusLine(Upstream upstream) throws IOException {
        gateway.box("uid-1", upstream.port());
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            client.getOutputStream()
                    .write(("POST " + PortGateway.path(upstream.port(), "/")
                                    + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + PortGateway.ALICE
                                    + "\r\nContent-Length: " + BODY + "\r\n\r\n")
                            .getBytes(StandardCharsets.UTF_8));
            Thread.ofVirtual().start(() -> send(client));
            return new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
        }
    }

    private static void send(Socket client) {
        try {
            for (int sent = 0; sent < BODY; sent += 16 << 10) {
                client.getOutputStream().write(new byte[16 << 10]);
            }
        } catch (IOException answered) {
            // Nobody reads the rest.
        }
    }

    /** What is not read makes the system reset the connection, in the middle of what is still sent to it. */
    @RepeatedTest(30)
    void theAnswerIsPassedOnThoughTheServerTakesNoMoreOfTheBody() throws IOException {
        try (Upstream upstream = Upstream.answering("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")) {
            assertThat(statusLine(upstream)).isEqualTo("HTTP/1.1 413 Too Large");
        }
    }

    @Test
    void aServerThatOnlyHangsUpIsABadGateway() throws IOException {
        try (Upstream upstream = Upstream.answering("")) {
            assertThat(statusLine(upstream)).isEqualTo("HTTP/1.1 502 Bad Gateway");
        }
    }

    @Test
    void aClientThatGoesWhileItSendsIsNoWholeRequest() throws Exception {
        var begun = new CountDownLatch(1);
        var rest = new CompletableFuture<String>();
        try (Upstream upstream = new Upstream((connection, head) -> {
            connection.getInputStream().readNBytes("5\r\nhello\r\n".length());
            begun.countDown();
            rest.complete(untilItEnds(connection));
        })) {
            gateway.box("uid-1", upstream.port());
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
                client.getOutputStream()
                        .write(("POST " + PortGateway.path(upstream.port(), "/")
                                        + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + PortGateway.ALICE
                                        + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
                                .getBytes(StandardCharsets.UTF_8));
                assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(rest.get(PortGateway.IDLE.toSeconds() - 2, TimeUnit.SECONDS))
                    .isEmpty();
        }
    }

    private static String untilItEnds(Socket connection) {
        try {
            return new String(connection.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException reset) {
            return "";
        }
    }
}
