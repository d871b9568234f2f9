package dev.sandglass.gateway.mcp.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import io.micrometer.core.instrument.Timer;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Who gets in, from where, with how much; and that rights are checked on the arguments of every call. */
class AccessTest {

    private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer wrong", "Bearer ", "Basic a2V5LW9mLWFsaWNl", "key-of-alice", "Bearer key-of-alic"})
    void anUnknownKeyIsUnauthorized(String header) throws Exception {
        HttpResponse<String> response = gateway.send(gateway.post(LIST).setHeader("Authorization", header));

        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(response.headers().firstValue("WWW-Authenticate").orElseThrow())
                .startsWith("Bearer realm=\"sandglass\"");
        assertThat(response.body()).doesNotContain("alic");
    }

    @Test
    void aCallerWhoIsFoundOutLaterIsServed() throws Exception {
        String padded = LIST + " ".repeat(500);
        for (int turn = 0; turn < 20; turn++) {
            HttpResponse<String> response =
                    gateway.send(gateway.post(padded).setHeader("Authorization", "Bearer " + TestGateway.LATE_KEY));

            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.body()).contains("sandbox_start");
        }
    }

    @Test
    void whereItCannotBeFoundOutWhoCallsTheAnswerSaysSo() throws Exception {
        HttpResponse<String> response =
                gateway.send(gateway.post(LIST).setHeader("Authorization", "Bearer " + TestGateway.UNKNOWABLE_KEY));

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).contains("credentials cannot be checked at the moment; try again");
    }

    @Test
    void noKeyIsUnauthorizedAndTheSchemeOfTheKeyHasNoCase() throws Exception {
        HttpRequest.Builder without = HttpRequest.newBuilder(URI.create(gateway.base() + "/mcp"))
                .POST(HttpRequest.BodyPublishers.ofString(LIST));
        assertThat(gateway.send(without).statusCode()).isEqualTo(401);

        HttpResponse<String> lowerCase =
                gateway.send(gateway.post(LIST).setHeader("Authorization", "bearer " + TestGateway.KEY));
        assertThat(lowerCase.statusCode()).isEqualTo(200);
    }

    @Test
    void thereIsNothingButTheEndpoint() throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(gateway.base() + "/mcp/secret"))
                .header("Authorization", "Bearer " + TestGateway.KEY);

        assertThat(gateway.send(request).statusCode()).isEqualTo(404);
    }

    @Test
    void noAnswerIsToBeKeptOrGuessedAt() throws Exception {
        HttpRequest.Builder refused = gateway.post(LIST).setHeader("Authorization", "Bearer wrong");
        for (HttpRequest.Builder request : List.of(gateway.post(LIST), refused)) {
            HttpHeaders headers = gateway.send(request).headers();
            assertThat(headers.firstValue("Cache-Control")).contains("no-store");
            assertThat(headers.firstValue("X-Content-Type-Options")).contains("nosniff");
        }
    }

    @Test
    void everyAnswerIsCountedByItsStatus() throws Exception {
        // Answers of other tests are counted behind them, too.
        try (TestGateway own = TestGateway.start()) {
            own.send(own.post(LIST).setHeader("Authorization", "Bearer wrong"));

            Timer unauthorized = own.meters.timer("sandglass.mcp.requests", "status", "401");
            await().until(() -> unauthorized.count() == 1);
        }
    }

    @Test
    void aPageOfAnotherOriginIsForbiddenEvenIfItBearsOurName() throws Exception {
        assertThat(gateway.send(gateway.post(LIST).header("Origin", "https://evil.example"))
                        .statusCode())
                .isEqualTo(403);
        assertThat(gateway.send(gateway.post(LIST).header("Origin", gateway.base()))
                        .statusCode())
                .isEqualTo(403);
        HttpResponse<String> allowed = gateway.send(gateway.post(LIST).header("Origin", TestGateway.ORIGIN));
        assertThat(allowed.statusCode()).isEqualTo(200);
        assertThat(allowed.headers().firstValue("Access-Control-Allow-Origin")).contains(TestGateway.ORIGIN);
    }

    @Test
    void anAllowedPageMayAskBeforeItCalls() throws Exception {
        HttpRequest.Builder preflight = HttpRequest.newBuilder(URI.create(gateway.base() + "/mcp"))
                .header("Origin", TestGateway.ORIGIN)
                .header("Access-Control-Request-Method", "POST")
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody());

        HttpResponse<String> response = gateway.send(preflight);

        assertThat(response.statusCode()).isEqualTo(204);
        assertThat(response.headers().firstValue("Access-Control-Allow-Headers").orElseThrow())
                .contains("Authorization");
    }

    @Test
    void aBodyAtTheLimitIsReadAndOneByteMoreIsTooLarge() throws Exception {
        String atLimit = LIST + " ".repeat(64 * 1024 - LIST.length());
        assertThat(gateway.send(gateway.post(atLimit)).statusCode()).isEqualTo(200);

        HttpResponse<String> over = gateway.send(gateway.post(atLimit + " "));

        assertThat(over.statusCode()).isEqualTo(413);
        assertThat(gateway.json(over).path("error").path("code").asInt()).isEqualTo(-32600);
    }

    @Test
    void aBodyOfUnknownLengthIsCutOffAtTheLimit() throws Exception {
        byte[] body = (LIST + " ".repeat(80 * 1024)).getBytes(StandardCharsets.UTF_8);
        HttpRequest.Builder chunked =
                gateway.post("").POST(HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)));

        assertThat(gateway.send(chunked).statusCode()).isEqualTo(413);
    }

    @Test
    void jsonThatIsTooDeepIsAParseError() throws Exception {
        String deep = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":" + "{\"a\":".repeat(40) + "1"
                + "}".repeat(41);

        JsonNode answer = gateway.json(gateway.send(gateway.post(deep)));

        assertThat(answer.path("error").path("code").asInt()).isEqualTo(-32700);
    }

    /** contracts.md M37: the right is that of the tenant in the arguments, wherever else a namespace may stand. */
    @Test
    void rightsAreCheckedOnTheArgumentsOfTheCall() throws Exception {
        String call = """
                {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"namespace":"other","name":"sandbox_run_code",\
                "arguments":{"sandbox":"box","namespace":"%s","code":"print hi"}}}""";

        JsonNode own = gateway.json(gateway.send(gateway.post(call.formatted("default"))));
        assertThat(TestGateway.text(own.path("result"))).isEqualTo("hi");

        JsonNode foreign = gateway.json(gateway.send(gateway.post(call.formatted("other"))));
        assertThat(foreign.path("result").path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(foreign.path("result")))
                .isEqualTo("Error: Namespace 'other' does not exist. Namespaces that you can use: default.");
    }

    @Test
    void whatACallerMayNotSeeDoesNotExist() throws Exception {
        String forbidden = TestGateway.text(gateway.call(
                TestGateway.OTHER_KEY,
                "sandbox_run_code",
                "{\"sandbox\":\"box\",\"namespace\":\"default\",\"code\":\"1\"}"));
        String unknown = TestGateway.text(gateway.call(
                TestGateway.OTHER_KEY,
                "sandbox_run_code",
                "{\"sandbox\":\"box\",\"namespace\":\"nowhere\",\"code\":\"1\"}"));

        assertThat(forbidden.replace("default", "*")).isEqualTo(unknown.replace("nowhere", "*"));
    }

    @Test
    void anExecutionIsReadOnlyByThoseOfItsTenant() throws Exception {
        JsonNode run = gateway.call("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"print hello\"}");
        String arguments = "{\"execution_id\":\"%s\"}"
                .formatted(run.path("structuredContent").path("execution_id").asString());

        assertThat(TestGateway.text(gateway.call("sandbox_get_execution", arguments)))
                .isEqualTo("hello");
        assertThat(TestGateway.text(gateway.call(TestGateway.OTHER_KEY, "sandbox_get_execution", arguments)))
                .startsWith("Error: Namespace 'default' does not exist.");
    }

    @Test
    void withoutNamespaceTheCallersOwnTenantIsMeant() throws Exception {
        gateway.call(TestGateway.OTHER_KEY, "sandbox_start", "{\"sandbox\":\"mine\"}");

        assertThat(gateway.sandboxes.orders).contains("start sandglass-other/mine by bob");
    }
}
