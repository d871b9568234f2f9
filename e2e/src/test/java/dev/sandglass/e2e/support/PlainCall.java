package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A streamed call over a plain connection, for what the SDK hides: to hang up in the middle of it, and to see the other
 * end hang up.
 */
public final class PlainCall implements AutoCloseable {

    private static final String BODY = """
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
              "name": %s,
              "arguments": %s,
              "_meta": {
                "progressToken": 1,
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}}}
            """;

    private static final String CANCEL = """
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            """;

    private final HttpClient client;
    private final BufferedReader lines;

    private PlainCall(HttpClient client, BufferedReader lines) {
        this.client = client;
        this.lines = lines;
    }

    public static PlainCall open(URI endpoint, String token, String tool, Map<String, Object> arguments) {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        var request = post(endpoint, token)
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", "tools/call")
                .header("Mcp-Name", tool)
                .POST(BodyPublishers.ofString(BODY.formatted(Attack.literal(tool), Attack.json(arguments))))
                .build();
        try {
            var body = client.send(request, BodyHandlers.ofInputStream()).body();
            return new PlainCall(client, new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Cancels the call by a request of its own, to whichever replica. */
    public static void cancel(URI endpoint, String token) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            var request =
                    post(endpoint, token).POST(BodyPublishers.ofString(CANCEL)).build();
            assertThat(client.send(request, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(202);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static HttpRequest.Builder post(URI endpoint, String token) {
        return HttpRequest.newBuilder(endpoint)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream");
    }

    /** Reads until the text has come. */
    public void awaitOutput(String text) {
        try {
            String line = lines.readLine();
            while (line != null && !line.contains(text)) {
                line = lines.readLine();
            }
            assertThat(line).as("the stream before it ended").isNotNull();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads on until the other end is gone; fails if it answers instead. */
    public void awaitHangUp() {
        try {
            String line = lines.readLine();
            while (line != null) {
                assertThat(line).doesNotContain("\"result\"");
                line = lines.readLine();
            }
        } catch (IOException e) {
            assertThat(e).as("a connection that broke").isNotNull();
        }
    }

    /** Hangs up, whatever is still to come. */
    @Override
    public void close() {
        client.shutdownNow();
        client.close();
    }
}
