package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Progress while code runs, back-pressure, and what becomes of calls whose client goes. */
class StreamingTest {

    private static final String EVENTS = "application/json, text/event-stream";
    private static final Duration SOON = Duration.ofSeconds(30);
    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start(new McpSettings(64 * 1024, 24 << 20, 64 << 20, Duration.ofMillis(50)));
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private static String run(String id, String code, String more) {
        return """
                {"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"sandbox_run_code",\
                "arguments":{"sandbox":"box","code":"%s"%s},"_meta":{"progressToken":"t-1"}}}""".formatted(id, code, more);
    }

    private static List<JsonNode> events(String body) {
        return body.lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> JsonMapper.shared().readTree(line.substring("data: ".length())))
                .toList();
    }

    @Test
    void outputComesAsProgressBeforeTheAnswer() throws Exception {
        HttpResponse<String> response = gateway.send(gateway.post(run("5", "flood 3", "")));

        assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/event-stream");
        assertThat(response.headers().firstValue("X-Accel-Buffering")).contains("no");
        List<JsonNode> events = events(response.body());
        assertThat(events).hasSize(4);
        for (int i = 0; i < 3; i++) {
            JsonNode progress = events.get(i);
            assertThat(progress.path("method").asString()).isEqualTo("notifications/progress");
            assertThat(progress.path("params").path("progressToken").asString()).isEqualTo("t-1");
            assertThat(progress.path("params").path("progress").asLong()).isEqualTo((i + 1) * 65_536L);
            assertThat(progress.path("params").path("message").asString()).hasSize(65_536);
        }
        assertThat(events.get(3).path("id").asInt()).isEqualTo(5);
        assertThat(events.get(3).path("result").path("isError").asBoolean()).isFalse();
    }

    @Test
    void aProgressTokenIsBoundAsIdsAre() throws Exception {
        String most = "x".repeat(256);
        List<JsonNode> events = events(
                gateway.send(gateway.post(withToken("\"%s\"".formatted(most)))).body());
        assertThat(events.getFirst().path("params").path("progressToken").asString())
                .isEqualTo(most);

        for (String token : List.of("\"x%s\"".formatted(most), "\"\\ud83d\"", "1.5", "true", "{}")) {
            JsonNode answer = gateway.json(gateway.send(gateway.post(withToken(token))));
            assertThat(answer.path("id").asInt()).isEqualTo(6);
            assertThat(answer.path("error").path("code").asInt()).isEqualTo(-32602);
            assertThat(answer.path("error").path("message").asString())
                    .isEqualTo("'_meta.progressToken' must be a whole number or a text of at most 256 characters");
        }
        assertThat(gateway.supervisor.verbs)
                .as("calls that came to the sandbox")
                .hasSize(1);
    }

    @Test
    void aProgressTokenThatIsNullIsNone() throws Exception {
        HttpResponse<String> response = gateway.send(gateway.post(withToken("null")));

        assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/json");
        assertThat(gateway.json(response).path("result").path("isError").asBoolean())
                .isFalse();
    }

    private static String withToken(String json) {
        return run("6", "print x", "").replace("\"t-1\"", json);
    }

    @Test
    void aClientThatAcceptsOnlyEventsGetsThem() throws Exception {
        HttpResponse<String> response =
                gateway.send(gateway.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")
                        .setHeader("Accept", "text/event-stream"));

        assertThat(events(response.body())
                        .getFirst()
                        .path("result")
                        .path("tools")
                        .size())
                .isEqualTo(15);
    }

    @Test
    void aClientThatAcceptsOnlyJsonGetsNoStream() throws Exception {
        HttpResponse<String> response =
                gateway.send(gateway.post(run("1", "print x", "")).setHeader("Accept", "application/json"));

        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
    }

    @Test
    void aProtocolErrorOnAStreamHasTheIdOfItsRequest() throws Exception {
        String body = """
                {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope","_meta":{"progressToken":1}}}""";

        JsonNode event = events(gateway.send(gateway.post(body)).body()).getFirst();

        assertThat(event.path("id").asInt()).isEqualTo(3);
        assertThat(event.path("error").path("code").asInt()).isEqualTo(-32602);
    }

    @Test
    void aQuietStreamIsKeptAlive() throws Exception {
        try (var client = new RawClient(gateway, run("1", "hang", ""), EVENTS)) {
            await().atMost(SOON).until(() -> client.received().contains(": keep-alive"));
        }
    }

    @Test
    void aClientThatGoesInterruptsTheCode() throws Exception {
        for (String accept : List.of("application/json", EVENTS)) {
            gateway.supervisor.verbs.clear();
            var client = new RawClient(gateway, run("1", "hang", ""), accept);
            await().atMost(SOON).until(() -> !gateway.supervisor.verbs.isEmpty());
            client.close();
            await().atMost(SOON).until(() -> gateway.supervisor.interrupted().size() == 1);
        }
    }

    @Test
    void aCancelledRequestInterruptsTheCodeAndHasNoAnswer() throws Exception {
        CompletableFuture<HttpResponse<String>> running = inBackground(run("\"r-1\"", "hang", ""));
        await().atMost(SOON).until(() -> !gateway.supervisor.verbs.isEmpty());

        gateway.send(gateway.post(cancel("\"r-2\"")));
        gateway.send(gateway.post(cancel("\"r-1\"")).setHeader("Authorization", "Bearer " + TestGateway.OTHER_KEY));
        assertThat(gateway.supervisor.interrupted()).isEmpty();
        gateway.send(gateway.post(cancel("\"r-1\"")));

        await().atMost(SOON).until(() -> gateway.supervisor.interrupted().size() == 1);
        assertThat(events(running.get().body())).isEmpty();
    }

    private static String cancel(String id) {
        return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s}}"
                .formatted(id);
    }

    private CompletableFuture<HttpResponse<String>> inBackground(String body) {
        return HttpClient.newHttpClient().sendAsync(gateway.post(body).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** What happens at SIGTERM: calls that wait are answered, and what they run is left alone. */
    @Test
    void drainingEndsStreamsWithoutInterruptingTheCode() throws Exception {
        CompletableFuture<HttpResponse<String>> running = inBackground(run("1", "hang", ""));
        await().atMost(SOON).until(() -> !gateway.supervisor.verbs.isEmpty());

        gateway.executions.drain();

        JsonNode answer = events(running.get().body()).getLast();
        assertThat(answer.path("result")
                        .path("structuredContent")
                        .path("status")
                        .asString())
                .isEqualTo("running");
        assertThat(gateway.supervisor.interrupted()).isEmpty();
    }

    /** HTTP/1.0 knows no chunks: a stream ends with the connection, and what has a length says it. */
    @ParameterizedTest
    @ValueSource(strings = {EVENTS, "application/json", "*/*"})
    void clientsOfHttp10GetNoChunks(String accept) throws Exception {
        String body = run("1", "flood 3", "");
        String head = "POST /mcp HTTP/1.0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                + "Connection: keep-alive\r\nAccept: %s\r\nContent-Length: %d\r\n\r\n%s";
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            socket.setSoTimeout(Math.toIntExact(SOON.toMillis()));
            socket.getOutputStream()
                    .write(head.formatted(TestGateway.KEY, accept, body.length(), body)
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .doesNotContainIgnoringCase("transfer-encoding")
                    .matches("(?s)HTTP/1.[01] 200 .*\r\n\r\n(: keep-alive\n\n)*(event: message\n.*\n\n|\\{.*})");
        }
    }

    /** The client reads nothing, so that the code in the sandbox must come to a stop, and goes on when it reads. */
    @Tag("slow")
    @Test
    void aSlowReaderHoldsTheCodeBack() throws Exception {
        int pieces = 400;
        try (var client = RawClient.notReading(gateway, run("1", "flood " + pieces, ""), EVENTS)) {
            var seen = new AtomicLong(-1);
            await().atMost(SOON).during(Duration.ofMillis(500)).until(() -> {
                long taken = gateway.supervisor.taken.get();
                return seen.getAndSet(taken) == taken;
            });
            assertThat(seen.get()).isLessThan(pieces / 2);

            client.resume();
            await().atMost(SOON).until(() -> gateway.supervisor.taken.get() == pieces);
        }
    }
}
