package dev.sandglass.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A caller that goes away: its code is interrupted, unless it was started in the background. */
class CancellationE2E {

    private static final String ENDLESS = """
            import time
            print('begun', flush=True)
            try:
                while True: time.sleep(0.05)
            except KeyboardInterrupt:
                interrupted = True
                raise
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();
    private final Agent agent = SANDBOXES.agent();

    @Test
    void closingTheConnectionInterruptsTheCodeAndKeepsTheKernel() throws Exception {
        String sandbox = SANDBOXES.start();
        agent.python(sandbox, "interrupted = False");

        openAndClose(sandbox, ENDLESS);

        // The kernel runs one thing at a time, so this answer comes only after the interrupt.
        assertThat(agent.python(sandbox, "interrupted").result()).isEqualTo("True");
    }

    @Test
    void codeInTheBackgroundOutlivesItsCaller() {
        String sandbox = SANDBOXES.start();
        Answer begun;
        try (Agent leaving = installation.agent()) {
            begun = leaving.call(
                    "sandbox_run_code", Map.of("sandbox", sandbox, "code", ENDLESS, "background", true, "timeout", 4));
        }

        Answer ended = agent.call("sandbox_get_execution", Map.of("execution_id", begun.executionId(), "wait", 20));

        assertThat(ended.status()).as("its own end, not its caller's").isEqualTo("timeout");
    }

    /** Calls over a plain connection, and closes it as soon as the first output has come. */
    private void openAndClose(String sandbox, String code) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(installation.endpoint())
                .header("Authorization", "Bearer " + installation.token())
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", "tools/call")
                .header("Mcp-Name", "sandbox_run_code")
                .POST(BodyPublishers.ofString(body(sandbox, code)))
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            var stream = client.send(request, BodyHandlers.ofInputStream()).body();
            try (var lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                assertThat(lines.lines().anyMatch(line -> line.contains("begun")))
                        .isTrue();
            }
            client.shutdownNow();
        }
    }

    private static String body(String sandbox, String code) {
        return """
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                  "name": "sandbox_run_code",
                  "arguments": {"sandbox": %s, "code": %s},
                  "_meta": {
                    "progressToken": 1,
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {}}}}
                """.formatted(Attack.literal(sandbox), Attack.literal(code));
    }
}
