package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Whoever shows no credential is asked for anew, and only if he would be let through. */
class ConfirmationTest {

    @Test
    void anAddressThatPassedToAnother() throws Exception {
        try (Stage stage = new Stage()) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.put(SANDBOX, "one", target);
            assertThat(stage.refusal(SANDBOX, "denied.example:443")).startsWith("HTTP/1.1 403 ");
            assertThat(stage.clients.confirmations).hasValue(0);
            try (Peer peer = stage.tunnel(SANDBOX, target)) {
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
            assertThat(stage.clients.confirmations).hasValue(1);
            stage.clients.doubt();
            assertThat(stage.refusal(SANDBOX, target))
                    .startsWith("HTTP/1.1 407 ")
                    .contains("show the credential of the proxy variables");
            assertThat(stage.clients.confirmations).hasValue(2);
            String shown = Base64.getEncoder().encodeToString("one:of-one".getBytes(StandardCharsets.US_ASCII));
            try (Peer peer = stage.from(SANDBOX)) {
                peer.say("CONNECT " + target + " HTTP/1.1\r\nProxy-Authorization: Basic " + shown + "\r\n\r\n");
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
            assertThat(stage.clients.confirmations).hasValue(2);
            await().untilAsserted(() -> assertThat(origin.accepted()).isEqualTo(2));
        }
    }
}
