package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.port.PortSettings.ReachedBy;
import dev.sandglass.gateway.port.message.OutwardHeaders;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestLinks;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who reaches a port of a sandbox, and who does not. */
class PortAccessTest {

    private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    private final PortGateway gateway = new PortGateway();
    private final Upstream upstream = Upstream.answering(ANSWER);
    private RunningSandbox box;

    @BeforeEach
    void start() {
        box = gateway.box("uid-1", upstream.port());
    }

    @AfterEach
    void stop() throws Exception {
        upstream.close();
        gateway.close();
    }

    private String path() {
        return PortGateway.path(upstream.port(), "/");
    }

    private int untouched(HttpResponse<String> response) {
        assertThat(upstream.connections.get()).isZero();
        return response.statusCode();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer wrong", "Basic a2V5LW9mLWFsaWNl", "key-of-alice"})
    void withoutAKnownKeyNobodyReachesAPort(String header) throws Exception {
        HttpResponse<String> wrong = gateway.send(gateway.anonymous(path()).header("Authorization", header));
        HttpResponse<String> none =
                gateway.send(gateway.anonymous(path()).header("Cookie", "Authorization=key-of-alice"));

        assertThat(untouched(wrong)).isEqualTo(401);
        assertThat(wrong.headers().firstValue("WWW-Authenticate").orElseThrow()).startsWith("Bearer");
        assertThat(untouched(none)).isEqualTo(401);
    }

    @Test
    void aCallerWhoIsFoundOutLaterIsServedAndOneWhoCannotBeIsNot() throws Exception {
        HttpResponse<String> late =
                gateway.send(gateway.anonymous(path()).header("Authorization", "Bearer " + PortGateway.LATE));
        assertThat(late.body()).isEqualTo("hello");

        HttpResponse<String> unknowable =
                gateway.send(gateway.anonymous(path()).header("Authorization", "Bearer " + PortGateway.UNKNOWABLE));
        assertThat(unknowable.statusCode()).isEqualTo(503);
    }

    @Test
    void whatACallerMayNotSeeDoesNotExist() throws Exception {
        String bearer = "Bearer " + PortGateway.BOB;
        HttpResponse<String> foreign = gateway.send(gateway.anonymous(path()).header("Authorization", bearer));
        HttpResponse<String> unknown = gateway.send(
                gateway.anonymous("/sandboxes/nowhere/box/ports/8000/").header("Authorization", bearer));

        assertThat(untouched(foreign)).isEqualTo(404);
        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(PortGateway.error(foreign).replace("default", "*"))
                .isEqualTo(PortGateway.error(unknown).replace("nowhere", "*"));
    }

    @Test
    void onlyDeclaredPortsAreReached() throws Exception {
        gateway.box("uid-1", 8000, 9000);

        HttpResponse<String> response = gateway.send(gateway.request(path()));

        assertThat(untouched(response)).isEqualTo(404);
        assertThat(PortGateway.error(response))
                .contains("not declared; declared are 8000, 9000")
                .contains("config.ports");
    }

    @Test
    void aSandboxThatIsUnknownOrDoesNotRunSaysWhatToDo() throws Exception {
        HttpResponse<String> unknown =
                gateway.send(gateway.request("/sandboxes/default/none/ports/%d/".formatted(upstream.port())));
        assertThat(untouched(unknown)).isEqualTo(404);
        assertThat(PortGateway.error(unknown)).contains("Sandbox 'none' not found");

        gateway.sandboxes.put(new SandboxState.Stopped(box.ref(), box.uid()));
        HttpResponse<String> stopped = gateway.send(gateway.request(path()));
        assertThat(untouched(stopped)).isEqualTo(503);
        assertThat(PortGateway.error(stopped)).contains("sandbox_start");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/sandboxes/default/box/", "/sandboxes/default/box/ports/x/", "/sandboxes/default%2Fbox/ports/1/"
            })
    void otherPathsAreNoAddresses(String path) throws Exception {
        assertThat(untouched(gateway.send(gateway.request(path)))).isEqualTo(404);
    }

    @Test
    void aMissingSlashIsPutRight() throws Exception {
        HttpResponse<String> response = gateway.send(gateway.request(PortGateway.path(upstream.port(), "?a=b")));

        assertThat(untouched(response)).isEqualTo(308);
        assertThat(response.headers().firstValue("Location")).contains(path() + "?a=b");
    }

    @Test
    void serviceWorkersAndOddMethodsAreRefused() throws Exception {
        assertThat(untouched(gateway.send(gateway.request(path()).header("Service-Worker", "script"))))
                .isEqualTo(403);
        assertThat(untouched(
                        gateway.send(gateway.request(path()).method("TRACE", HttpRequest.BodyPublishers.noBody()))))
                .isEqualTo(405);
    }

    @Test
    void aLinkNeedsNothingElse() throws Exception {
        HttpResponse<String> response = gateway.send(gateway.anonymous(gateway.link(box) + "page?a=b"));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("hello");
        assertThat(response.headers().firstValue("Access-Control-Allow-Origin")).contains("*");
        assertThat(response.headers().firstValue("Content-Security-Policy")).contains(OutwardHeaders.SANDBOXED);
    }

    @Test
    void aPageOfALinkMayAskBeforeItSends() throws Exception {
        HttpResponse<String> response = gateway.send(gateway.anonymous(gateway.link(box) + "api")
                .header("Origin", "null")
                .header("Access-Control-Request-Method", "PUT")
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody()));

        assertThat(untouched(response)).isEqualTo(204);
        assertThat(response.headers().firstValue("Access-Control-Allow-Methods").orElseThrow())
                .contains("PUT");
    }

    @Test
    void aLinkIsGoodForItsPortAndItsTimeAlone() throws Exception {
        String link = gateway.link(box);
        String refusal =
                PortGateway.error(gateway.send(gateway.anonymous("/sandboxes/default/box/links/8000/1.YQ.b/")));
        assertThat(refusal).contains("not valid");
        String otherPort =
                link.replace("/links/%d/".formatted(upstream.port()), "/links/%d/".formatted(upstream.port() ^ 1));
        String otherBox = link.replace("/box/", "/none/");
        String tampered = link.substring(0, link.length() - 2) + (link.endsWith("A/") ? "E/" : "A/");
        for (String bad : new String[] {otherPort, otherBox, tampered}) {
            HttpResponse<String> response = gateway.send(gateway.anonymous(bad));
            assertThat(untouched(response)).isEqualTo(403);
            assertThat(PortGateway.error(response)).isEqualTo(refusal);
        }
        gateway.now = gateway.now.plus(Duration.ofMinutes(10));
        assertThat(untouched(gateway.send(gateway.anonymous(link)))).isEqualTo(403);
        gateway.now = gateway.now.minusSeconds(1);
        assertThat(gateway.send(gateway.anonymous(link)).statusCode()).isEqualTo(200);
    }

    @Test
    void aLinkDoesNotPassOnToALaterSandboxOfTheSameName() throws Exception {
        String link = gateway.link(box);
        gateway.box("uid-2", upstream.port());

        assertThat(untouched(gateway.send(gateway.anonymous(link)))).isEqualTo(403);
    }

    @Test
    void aLinkEndsWithTheRightsOfWhoeverAskedForIt() throws Exception {
        String link = gateway.link(box);
        gateway.revoke(PortGateway.ALICE);

        assertThat(untouched(gateway.send(gateway.anonymous(link)))).isEqualTo(403);
    }

    /** An address may have passed on to another pod: who holds no keys of this sandbox is sent nothing. */
    @Test
    void withoutProofOfThePodNothingIsSentToItsAddress() throws Exception {
        try (LinkClient links = TestLinks.start(new LinkSecret(new byte[32]));
                PortGateway doubting = new PortGateway(Optional.of(links))) {
            doubting.box("uid-1", upstream.port());

            HttpResponse<String> response = doubting.send(doubting.request(path()));

            assertThat(untouched(response)).isEqualTo(502);
            assertThat(PortGateway.error(response)).contains("does not answer");
        }
    }

    /** An installation may have no links; one that was made by another replica, or before, leads nowhere then. */
    @Test
    void whereThereAreNoLinksOnlyTheKeyLeadsIn() throws Exception {
        String link = gateway.link(box);
        try (PortGateway keys = new PortGateway(Optional.empty(), ReachedBy.KEYS)) {
            keys.box("uid-1", upstream.port());

            HttpResponse<String> refused = keys.send(keys.anonymous(link));
            assertThat(untouched(refused)).isEqualTo(403);
            assertThat(PortGateway.error(refused))
                    .contains("gateway.ports: keys")
                    .contains("API key");
            assertThat(untouched(keys.send(keys.request(link)))).isEqualTo(403);
            assertThat(keys.send(keys.request(path())).body()).isEqualTo("hello");
        }
        assertThat(gateway.send(gateway.anonymous(link)).statusCode()).isEqualTo(200);
    }

    @Test
    void whereNoPortIsReachedNothingLeadsIn() throws Exception {
        String link = gateway.link(box);
        try (PortGateway none = new PortGateway(Optional.empty(), ReachedBy.NONE)) {
            none.box("uid-1", upstream.port());

            HttpResponse<String> refused = none.send(none.request(path()));
            assertThat(untouched(refused)).isEqualTo(403);
            assertThat(PortGateway.error(refused)).contains("gateway.ports: none");
            assertThat(untouched(none.send(none.anonymous(link)))).isEqualTo(403);
        }
    }

    @Test
    void everyRequestIsCounted() throws Exception {
        gateway.send(gateway.request(path()));

        await().until(() ->
                gateway.meters.timer("sandglass.port.requests", "status", "200").count() == 1);
    }
}
