package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.CellContract;
import dev.sandglass.gateway.testing.TestGateway;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A cancellation finds its call at whichever replica it arrives, and only the call of the client that sends it. */
class CancellationRelayTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String RUN = """
            {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sandbox_run_code",\
            "arguments":{"sandbox":"box","code":"hang"},"_meta":{"progressToken":1}}}""";
    private static final String CANCEL = """
            {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}""";
    private static final String INITIALIZE = """
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},\
            "clientInfo":{"name":"test","version":"1"}}}""";

    private static CompletableFuture<HttpResponse<String>> running(TestGateway gateway, String... headers) {
        gateway.sandboxes.addRunning("box");
        HttpRequest.Builder request = gateway.post(RUN);
        if (headers.length > 0) {
            request.headers(headers);
        }
        var answer = HttpClient.newHttpClient().sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
        await().atMost(SOON).until(() -> !gateway.supervisor.verbs.isEmpty());
        return answer;
    }

    private static String session(TestGateway gateway) throws Exception {
        return gateway.send(gateway.post(INITIALIZE))
                .headers()
                .firstValue("Mcp-Session-Id")
                .orElseThrow();
    }

    @Test
    void itIsPassedOnToTheReplicaThatRunsTheCall() throws Exception {
        try (TestGateway runs = TestGateway.start();
                TestGateway hears = TestGateway.besides(runs.port(), "127.0.0.1")) {
            var call = running(runs);

            assertThat(hears.send(hears.post(CANCEL)).statusCode()).isEqualTo(202);

            await().atMost(SOON).until(() -> runs.supervisor.interrupted().size() == 1);
            assertThat(call.get().body()).doesNotContain("\"id\":7");
        }
    }

    @Test
    void itIsPassedOnToTheSameContract() throws Exception {
        String run = RUN.replace("sandbox_run_code", CellContract.TOOL).replace("\"sandbox\":\"box\",", "");
        try (TestGateway runs = TestGateway.beside(CellContract::new);
                TestGateway hears = TestGateway.besides(runs.port(), CellContract::new, "127.0.0.1");
                HttpClient client = HttpClient.newHttpClient()) {
            runs.sandboxes.addRunning("box");
            var call = client.sendAsync(
                    runs.post(run).uri(URI.create(runs.base() + "/mcp/cell")).build(),
                    HttpResponse.BodyHandlers.ofString());
            await().atMost(SOON).until(() -> !runs.supervisor.verbs.isEmpty());

            hears.send(hears.post(CANCEL));
            assertThat(runs.supervisor.interrupted()).isEmpty();
            hears.send(hears.post(CANCEL).uri(URI.create(hears.base() + "/mcp/cell?sandbox=box")));

            await().atMost(SOON).until(() -> runs.supervisor.interrupted().size() == 1);
            assertThat(call.get().body()).doesNotContain("\"id\":7");
        }
    }

    /** The session is given by one replica, the call runs in the second, and the third is told. */
    @Test
    void aSessionTellsTwoClientsApartWhoeverGaveIt() throws Exception {
        try (TestGateway runs = TestGateway.start();
                TestGateway hears = TestGateway.besides(runs.port(), "127.0.0.1")) {
            String mine = session(hears);
            String another = session(hears);
            assertThat(another).isNotEqualTo(mine);
            var call = running(runs, "Mcp-Session-Id", mine);

            hears.send(hears.post(CANCEL));
            hears.send(hears.post(CANCEL).header("Mcp-Session-Id", another));
            hears.send(hears.post(CANCEL)
                    .header("Mcp-Session-Id", mine)
                    .setHeader("Authorization", "Bearer " + TestGateway.OTHER_KEY));
            assertThat(runs.supervisor.interrupted()).isEmpty();
            hears.send(hears.post(CANCEL).header("Mcp-Session-Id", mine));

            await().atMost(SOON).until(() -> runs.supervisor.interrupted().size() == 1);
            assertThat(call.get().body()).doesNotContain("\"id\":7");
        }
    }

    @Test
    void withoutASessionTheClientsAddressCounts() throws Exception {
        // Both replicas are at the address from which they call each other.
        try (TestGateway runs = TestGateway.besides(1, "127.0.0.1");
                TestGateway hears = TestGateway.besides(runs.port(), "127.0.0.1");
                HttpClient elsewhere = HttpClient.newBuilder()
                        .localAddress(InetAddress.getByName("127.0.0.2"))
                        .build()) {
            var call = running(runs);

            elsewhere.send(hears.post(CANCEL).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(runs.supervisor.interrupted()).isEmpty();
            hears.send(hears.post(CANCEL));

            await().atMost(SOON).until(() -> runs.supervisor.interrupted().size() == 1);
            assertThat(call.get().body()).doesNotContain("\"id\":7");
        }
    }

    /** Else one program would cancel another's call by naming its address. */
    @Test
    void whereAClientIsNoClientSaysByAHeader() throws Exception {
        try (TestGateway runs = TestGateway.besides(1, "127.0.0.3");
                HttpClient elsewhere = HttpClient.newBuilder()
                        .localAddress(InetAddress.getByName("127.0.0.2"))
                        .build();
                HttpClient replica = HttpClient.newBuilder()
                        .localAddress(InetAddress.getByName("127.0.0.3"))
                        .build()) {
            var call = running(runs);
            for (String proxy : List.of("127.0.0.1", "127.0.0.3")) {
                HttpRequest forged = runs.post(CANCEL)
                        .header("Sandglass-Client-Address", "127.0.0.1")
                        .header("X-Forwarded-For", proxy)
                        .build();
                assertThat(elsewhere
                                .send(forged, HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                        .isEqualTo(202);
            }
            assertThat(runs.supervisor.interrupted()).isEmpty();

            HttpRequest passedOn = runs.post(CANCEL)
                    .header("Sandglass-Client-Address", "127.0.0.1")
                    .build();
            replica.send(passedOn, HttpResponse.BodyHandlers.ofString());
            await().atMost(SOON).until(() -> runs.supervisor.interrupted().size() == 1);
            assertThat(call.get().body()).doesNotContain("\"id\":7");
        }
    }

    /** What one replica told the others is told no further, and of what a client sends only the id goes on. */
    @Test
    void itGoesOnOnceAndWithNothingButTheId() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        DisposableServer other = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> request.receive()
                        .aggregate()
                        .asString()
                        .doOnNext(body -> told.add(request.requestHeaders().get("Authorization") + " "
                                + request.requestHeaders().get("Sandglass-Client-Address") + " " + body))
                        .then(response.status(202).send()))
                .bindNow();
        try (TestGateway hears = TestGateway.besides(other.port(), "127.0.0.1")) {
            hears.send(hears.post(CANCEL).header("Sandglass-Client-Address", "10.0.0.1"));
            hears.send(hears.post(CANCEL.replace("7", "{\"much\":[1]}")));
            hears.send(hears.post(CANCEL.replace("7", "\"" + "x".repeat(257) + "\"")));
            hears.send(
                    hears.post(CANCEL.replace("}}", ",\"reason\":\"tired\"}}")).header("X-Other", "x"));

            assertThat(told)
                    .hasSize(1)
                    .first()
                    .asString()
                    .startsWith("Bearer " + TestGateway.KEY + " 127.0.0.1 {")
                    .contains("\"requestId\":7")
                    .doesNotContain("tired");
        } finally {
            other.disposeNow();
        }
    }

    /** Neither one that is gone nor one that says nothing holds the client up for long. */
    @Tag("slow")
    @Test
    void aReplicaThatDoesNotAnswerIsLeftOut() throws Exception {
        DisposableServer silent = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> Mono.never())
                .bindNow();
        try (TestGateway hears = TestGateway.besides(silent.port(), "127.0.0.1", "127.0.0.2")) {
            HttpResponse<String> answer = hears.send(hears.post(CANCEL).timeout(SOON));
            assertThat(answer.statusCode()).isEqualTo(202);
        } finally {
            silent.disposeNow();
        }
    }

    static Stream<Arguments> messagesAndSessions() {
        return Stream.of(INITIALIZE, RUN.replace("hang", "print x"))
                .flatMap(message -> Stream.of(Arguments.of(message, 0), Arguments.of(message, 257)));
    }

    /** Whether it is answered as JSON or, as a call with a progress token, by a stream. */
    @ParameterizedTest
    @MethodSource("messagesAndSessions")
    void aSessionHasABound(String message, int letters) throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
            gateway.sandboxes.addRunning("box");
            var refused = gateway.send(gateway.post(message).header("Mcp-Session-Id", "s".repeat(letters)));

            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("Mcp-Session-Id must be 1 to 256 visible ASCII characters");
            assertThat(gateway.send(gateway.post(message).header("Mcp-Session-Id", "s".repeat(256)))
                            .statusCode())
                    .isEqualTo(200);
        }
    }
}
