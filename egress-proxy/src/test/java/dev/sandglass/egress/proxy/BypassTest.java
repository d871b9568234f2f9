package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.NEIGHBOUR;
import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.egress.tunnel.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The known ways past a proxy, each tried; and each time the same way where it is allowed, to show that it leads there. */
class BypassTest {

    private Stage stage;
    private Origin origin;

    @BeforeEach
    void open() throws InterruptedException, IOException {
        stage = new Stage();
        origin = stage.origin(Origin.ECHO);
        stage.names.put("example.com", "127.0.0.1");
        stage.clients.put(SANDBOX, "one", "example.com:" + origin.port());
    }

    @AfterEach
    void close() throws IOException {
        stage.close();
    }

    private void reaches(String source, String target) throws IOException {
        try (Peer peer = stage.tunnel(source, target)) {
            assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            peer.say("hello");
            assertThat(peer.hear(5)).isEqualTo("hello");
        }
    }

    @Test
    void aDeniedNameIsNeverLookedUp() throws IOException {
        stage.names.put("evil.com", "127.0.0.1");
        String refusal = stage.refusal(SANDBOX, "evil.com:" + origin.port());
        assertThat(refusal)
                .startsWith("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: not-allowed\r\n")
                .contains("host: evil.com\n", "port: " + origin.port() + "\n", "sandbox: tenant/name-of-one\n")
                .contains("remedy: add it to spec.allowedDomains");
        assertThat(stage.answer(SANDBOX, "GET http://evil.com/ HTTP/1.1\r\nHost: evil.com\r\n\r\n"))
                .startsWith("HTTP/1.1 403 ");
        stage.refusal(SANDBOX, "www.example.com:" + origin.port());
        stage.refusal(SANDBOX, "example.com:" + (origin.port() - 1));
        assertThat(stage.names.questions()).isEmpty();
        assertThat(origin.accepted()).isZero();
        reaches(SANDBOX, "example.com:" + origin.port());
        assertThat(stage.names.questions()).containsExactly("example.com");
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.244.0.9", "127.0.1.1", "169.254.169.254", "[::1]", "[fd00::1]"})
    void nobodyIsAdvisedToListAnAddressThatNoEntryOpens(String address) throws IOException {
        assertThat(stage.refusal(SANDBOX, address + ":" + origin.port()))
                .startsWith("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: address-denied\r\n")
                .contains(
                        "and no entry would open it: it leads to ",
                        "remedy: ask the administrator of this installation")
                .doesNotContain("remedy: add");
        assertThat(stage.refusal(SANDBOX, "1.2.3.4:" + origin.port()))
                .contains("X-Proxy-Error: not-allowed\r\n", "remedy: add it to spec.allowedDomains");
    }

    @Test
    void aNameWithAnotherOneBehindANul() throws IOException {
        stage.names.put("evil.com", "127.0.0.1");
        for (String name :
                new String[] {"evil.com\0.example.com", "evil.com%00.example.com", "evil.com\\.example.com"}) {
            assertThat(stage.answer(SANDBOX, "CONNECT " + name + ":" + origin.port() + " HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ")
                    .contains("X-Proxy-Error: malformed");
        }
        assertThat(stage.names.questions()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.1",
                "2130706433",
                "0x7f000001",
                "0x7f.1",
                "0177.0.0.1",
                "127.0.0.1.",
                "[::ffff:127.0.0.1]",
                "[::ffff:7f00:1]",
                "[::1]",
                "localhost"
            })
    void addressesInstead(String spelling) throws IOException {
        assertThat(stage.refusal(SANDBOX, spelling + ":" + origin.port())).containsPattern("^HTTP/1.1 40[03] ");
        assertThat(origin.accepted()).isZero();
        stage.clients.put(SANDBOX, "one", "127.0.0.1:" + origin.port());
        reaches(SANDBOX, "127.0.0.1:" + origin.port());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"127.0.0.2", "169.254.169.254", "10.0.0.1", "100.64.0.1", "fd00::1", "64:ff9b::7f00:1", "::1"})
    void aNameThatLeadsInside(String address) throws IOException {
        stage.names.put("example.com", "127.0.0.1", address);
        String refusal = stage.refusal(SANDBOX, "example.com:" + origin.port());
        assertThat(refusal)
                .startsWith("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: address-denied\r\n")
                .contains("which no sandbox may reach");
        assertThat(origin.accepted()).isZero();
        stage.names.put("example.com", "127.0.0.1");
        reaches(SANDBOX, "example.com:" + origin.port());
    }

    @Test
    void anInnerServerIsNotReachedByNameNorByAddress() throws IOException {
        Origin inside = stage.origin("127.0.0.2", Origin.ECHO);
        try (Peer direct = Peer.connect(SANDBOX, "127.0.0.2", inside.port())) {
            direct.say("hello");
            assertThat(direct.hear(5)).isEqualTo("hello");
        }
        stage.names.put("rebind.example", "127.0.0.2");
        stage.clients.put(SANDBOX, "one", "rebind.example:" + inside.port(), "127.0.0.2:" + inside.port(), "*");
        assertThat(stage.refusal(SANDBOX, "rebind.example:" + inside.port())).contains("address-denied");
        assertThat(stage.refusal(SANDBOX, "127.0.0.2:" + inside.port())).contains("address-denied");
        assertThat(inside.accepted()).isEqualTo(1);
    }

    @Test
    void aNameThatChangesAfterTheCheck() throws IOException {
        Origin inside = stage.origin("127.0.0.2", Origin.ECHO);
        stage.clients.put(SANDBOX, "one", "example.com:" + inside.port());
        // Right behind the first answer the name leads elsewhere; a second lookup by the dialler would go there.
        stage.names.put("example.com", "127.0.0.1");
        assertThat(stage.refusal(SANDBOX, "example.com:" + inside.port())).contains("connect-failed");
        assertThat(stage.names.questions()).containsExactly("example.com");
        stage.names.put("example.com", "127.0.0.2");
        assertThat(stage.refusal(SANDBOX, "example.com:" + inside.port())).contains("address-denied");
        assertThat(inside.accepted()).isZero();
    }

    @Test
    void aStrangerIsUnknown() throws IOException {
        assertThat(stage.refusal(STRANGER, "example.com:" + origin.port()))
                .startsWith("HTTP/1.1 407 ")
                .contains("X-Proxy-Error: unknown-sandbox", "Proxy-Authenticate: Basic");
        assertThat(stage.names.questions()).isEmpty();
        reaches(SANDBOX, "example.com:" + origin.port());
    }

    @Test
    void aNeighbourHasItsOwnList() throws IOException {
        stage.clients.put(NEIGHBOUR, "two", "other.example");
        assertThat(stage.refusal(NEIGHBOUR, "example.com:" + origin.port())).startsWith("HTTP/1.1 403 ");
        reaches(SANDBOX, "example.com:" + origin.port());
    }

    @Test
    void aCredentialMustNotNameAnotherSandbox() throws IOException {
        stage.clients.put(NEIGHBOUR, "two", "other.example");
        for (String wrong : new String[] {"two:of-two", "one:of-two", "one:", ":", "one"}) {
            assertThat(stage.answer(SANDBOX, withCredential(wrong))).as(wrong).startsWith("HTTP/1.1 407 ");
        }
        try (Peer peer = stage.from(SANDBOX)) {
            peer.say(withCredential("one:of-one"));
            assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void aCredentialCanBeRequired() throws Exception {
        try (Stage strict = new Stage(Limits.DEFAULT, true, Set.of())) {
            strict.names.put("example.com", "127.0.0.1");
            strict.clients.put(SANDBOX, "one", "example.com:" + origin.port());
            assertThat(strict.refusal(SANDBOX, "example.com:" + origin.port()))
                    .startsWith("HTTP/1.1 407 ")
                    .contains("is required");
            try (Peer peer = strict.from(SANDBOX)) {
                peer.say(withCredential("one:of-one"));
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    private String withCredential(String userAndPassword) {
        return "CONNECT example.com:" + origin.port() + " HTTP/1.1\r\nProxy-Authorization: Basic "
                + Base64.getEncoder().encodeToString(userAndPassword.getBytes(StandardCharsets.UTF_8))
                + "\r\n\r\n";
    }

    @Test
    void aTunnelEndsWithItsRule() throws IOException {
        stage.clients.put(NEIGHBOUR, "two", "example.com:" + origin.port());
        try (Peer peer = stage.tunnel(SANDBOX, "example.com:" + origin.port());
                Peer other = stage.tunnel(NEIGHBOUR, "example.com:" + origin.port())) {
            peer.head();
            other.head();
            stage.clients.put(SANDBOX, "one", "example.com:" + origin.port(), "more.example");
            peer.say("hello");
            assertThat(peer.hear(5)).isEqualTo("hello");
            stage.clients.put(SANDBOX, "one", "more.example");
            assertThat(peer.rest()).isEmpty();
            await().untilAsserted(() ->
                    assertThat(stage.count("allowed", "rule-gone")).isEqualTo(1));
            other.say("hello");
            assertThat(other.hear(5)).isEqualTo("hello");
        }
        assertThat(stage.refusal(SANDBOX, "example.com:" + origin.port())).startsWith("HTTP/1.1 403 ");
    }

    @Test
    void aTunnelEndsWithItsPod() throws IOException {
        try (Peer peer = stage.tunnel(SANDBOX, "example.com:" + origin.port())) {
            peer.head();
            stage.clients.remove(SANDBOX);
            assertThat(peer.rest()).isEmpty();
        }
        assertThat(stage.refusal(SANDBOX, "example.com:" + origin.port())).startsWith("HTTP/1.1 407 ");
    }

    @Test
    void anAddressThatGoesToAnotherSandboxTakesNothingAlong() throws IOException {
        stage.names.silent("slow.example");
        stage.clients.put(SANDBOX, "one", "slow.example:" + origin.port(), "example.com:" + origin.port());
        try (Peer open = stage.tunnel(SANDBOX, "example.com:" + origin.port());
                Peer waiting = stage.tunnel(SANDBOX, "slow.example:" + origin.port())) {
            open.head();
            await().until(() -> stage.names.questions().contains("slow.example"));
            stage.clients.remove(SANDBOX);
            stage.clients.put(SANDBOX, "two", "example.com:" + origin.port());
            assertThat(open.rest()).isEmpty();
            assertThat(waiting.rest()).isEmpty();
        }
        reaches(SANDBOX, "example.com:" + origin.port());
    }
}
