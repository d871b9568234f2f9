package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Code may ask before the watch has told the proxy of its sandbox. */
class NewcomersTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void whoeverAsksBeforeTheWatchHasToldOfItIsLetThroughOnceItHas() throws Exception {
        try (Stage stage = Stage.waiting(LONG)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            try (Peer peer = stage.tunnel(SANDBOX, target)) {
                await().until(() -> stage.clients.questions.get() >= 2);
                stage.clients.put(SANDBOX, "one", target);
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    @Test
    void whoeverHasTheAddressOfAnotherThatEndedIsLetThroughOnceTheWatchHasToldOfIt() throws Exception {
        try (Stage stage = Stage.waiting(LONG)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.put(SANDBOX, "former", target);
            try (Peer peer = stage.from(SANDBOX)) {
                String shown = Base64.getEncoder().encodeToString("new:of-new".getBytes(StandardCharsets.US_ASCII));
                peer.say("CONNECT " + target + " HTTP/1.1\r\nProxy-Authorization: Basic " + shown + "\r\n\r\n");
                await().until(() -> stage.clients.questions.get() >= 2);
                stage.clients.put(SANDBOX, "new", target);
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    @Test
    void whoeverStaysUnknownIsRefusedAndWasAskedForMoreThanOnce() throws Exception {
        try (Stage stage = new Stage()) {
            assertThat(stage.refusal(STRANGER, "example.com:443"))
                    .startsWith("HTTP/1.1 407 ")
                    .contains("the proxy knows no running sandbox at this address");
            assertThat(stage.clients.questions).hasValueGreaterThan(1);
        }
    }
}
