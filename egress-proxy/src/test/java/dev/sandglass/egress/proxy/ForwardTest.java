package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plain HTTP, one request for each connection. */
class ForwardTest {

    private Stage stage;

    @BeforeEach
    void open() throws InterruptedException {
        stage = new Stage();
        stage.names.put("example.com", "127.0.0.1");
    }

    @AfterEach
    void close() throws IOException {
        stage.close();
    }

    private String allowed(Origin origin) {
        String target = "example.com:" + origin.port();
        stage.clients.put(SANDBOX, "one", target);
        return target;
    }

    @Test
    void aRequestAndItsAnswer() throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        String target = allowed(stage.origin(peer -> {
            heard.complete(peer.head());
            peer.say("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
        }));
        String answer = stage.answer(
                SANDBOX,
                "GET http://" + target + "/a?b HTTP/1.1\r\nHost: " + target + "\r\nProxy-Connection: keep-alive\r\n"
                        + "Accept: */*\r\n\r\n");
        assertThat(answer).isEqualTo("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
        assertThat(heard.get(10, TimeUnit.SECONDS))
                .isEqualTo("GET /a?b HTTP/1.1\r\nHost: " + target + "\r\nAccept: */*\r\nConnection: close\r\n\r\n");
        await().untilAsserted(() -> assertThat(stage.proxy().openTunnels()).isZero());
    }

    @Test
    void theCredentialDoesNotReachTheServer() throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        String target = allowed(stage.origin(peer -> {
            heard.complete(peer.head());
            peer.say("HTTP/1.1 204 No Content\r\n\r\n");
        }));
        // one:of-one
        stage.answer(
                SANDBOX,
                "GET http://" + target + "/ HTTP/1.1\r\nHost: " + target
                        + "\r\nProxy-Authorization: Basic b25lOm9mLW9uZQ==\r\n\r\n");
        assertThat(heard.get(10, TimeUnit.SECONDS)).startsWith("GET / ").doesNotContain("b25lOm9mLW9uZQ==");
    }

    @Test
    void aSecondRequestBehindTheBodyIsNotPassedOn() throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        CompletableFuture<Void> answer = new CompletableFuture<>();
        String target = allowed(stage.origin(peer -> {
            peer.head();
            String body = peer.hear(5);
            peer.socket().setSoTimeout(300);
            heard.complete(body + more(peer));
            answer.join();
            peer.say("HTTP/1.1 200 OK\r\n\r\n");
        }));
        try (Peer peer = stage.from(SANDBOX)) {
            peer.say("POST http://" + target + "/ HTTP/1.1\r\nHost: " + target
                    + "\r\nContent-Length: 5\r\n\r\nhelloGET /admin HTTP/1.1\r\nHost: evil.com\r\n\r\n");
            peer.say("GET /admin HTTP/1.1\r\nHost: evil.com\r\n\r\n");
            assertThat(heard.get(10, TimeUnit.SECONDS)).isEqualTo("hello");
            answer.complete(null);
            assertThat(peer.rest()).isEqualTo("HTTP/1.1 200 OK\r\n\r\n");
        }
    }

    private static String more(Peer peer) {
        try {
            return peer.hear(1);
        } catch (IOException nothing) {
            return "";
        }
    }

    @Test
    void chunksGoThroughAndWhatIsMalformedEndsIt() throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        String target = allowed(stage.origin(peer -> {
            peer.head();
            heard.complete(peer.hear("5\r\nhello\r\n0\r\n\r\n".length()));
            peer.say("HTTP/1.1 200 OK\r\n\r\n");
        }));
        String head =
                "POST http://" + target + "/ HTTP/1.1\r\nHost: " + target + "\r\nTransfer-Encoding: chunked\r\n\r\n";
        assertThat(stage.answer(SANDBOX, head + "5\r\nhello\r\n0\r\n\r\n")).isEqualTo("HTTP/1.1 200 OK\r\n\r\n");
        assertThat(heard.get(10, TimeUnit.SECONDS)).isEqualTo("5\r\nhello\r\n0\r\n\r\n");
        assertThat(stage.answer(SANDBOX, head + "5;x=\"\r\nhello\r\n0\r\n\r\n")).isEmpty();
        stage.awaitCount("allowed", "malformed", 1);
    }

    @Test
    void anAnswerThatComesBeforeTheWholeBodyIsHeard() throws IOException {
        String target = allowed(stage.origin(peer -> {
            peer.head();
            peer.say("HTTP/1.1 413 Content Too Large\r\n\r\n");
        }));
        String answer = stage.answer(
                SANDBOX,
                "POST http://" + target + "/ HTTP/1.1\r\nHost: " + target + "\r\nContent-Length: 1000000\r\n\r\n"
                        + "x".repeat(1000));
        assertThat(answer).startsWith("HTTP/1.1 413 ");
    }
}
