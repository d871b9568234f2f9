package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Installation;
import io.modelcontextprotocol.client.transport.McpHttpClientTransportAuthorizationException;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may call: only holders of a key, on every request. */
class CallersE2E {

    private static final String LIST = """
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {}}}}
            """;

    private final Installation installation = Installation.current();

    @Test
    void aCallWithTheKeyIsAnswered() throws Exception {
        HttpResponse<String> response = list("Bearer " + installation.token());

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).contains("sandbox_run_code");
    }

    @Test
    void aCallWithoutAKeyIsRefused() throws Exception {
        HttpResponse<String> response = list("");

        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(response.headers().firstValue("WWW-Authenticate"))
                .hasValueSatisfying(challenge -> assertThat(challenge).startsWith("Bearer"));
        assertThat(response.body()).doesNotContain("sandbox_run_code");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer wrong", "Bearer ", "Basic QWxhZGRpbjpvcGVu", "Bearer {KEY}x", "{KEY}"})
    void aCallWithAWrongKeyIsRefused(String authorization) throws Exception {
        assertThat(list(authorization.replace("{KEY}", installation.token())).statusCode())
                .isEqualTo(401);
    }

    @Test
    void theSdkClientCannotEvenSayHelloWithoutAKey() {
        assertThatThrownBy(() -> Agent.connect(installation.endpoint(), "").close())
                .hasRootCauseInstanceOf(McpHttpClientTransportAuthorizationException.class);
    }

    private HttpResponse<String> list(String authorization) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(installation.endpoint())
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", "tools/list")
                .POST(HttpRequest.BodyPublishers.ofString(LIST));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }
}
