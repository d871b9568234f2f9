package dev.sandglass.e2e.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/** A session of MCP at one of the drop-in endpoints, over plain HTTP: the SDK hides the session's id. */
public final class EndpointSession {

    private static final String INITIALIZE = """
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},\
            "clientInfo":{"name":"e2e","version":"1"}}}""";
    private static final String CALL = """
            {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%s,"arguments":%s}}""";

    private final HttpClient http = HttpClient.newHttpClient();
    private final URI endpoint;
    private final String token;
    private final String id;

    private EndpointSession(URI endpoint, String token) {
        this.endpoint = endpoint;
        this.token = token;
        this.id = sent(post(INITIALIZE)).headers().firstValue("Mcp-Session-Id").orElseThrow();
    }

    /**
     * Begins one.
     *
     * @param path of the endpoint, with its query
     */
    public static EndpointSession begin(Installation installation, String path) {
        return new EndpointSession(installation.endpoint().resolve(path), installation.token());
    }

    /** Its id. */
    public String id() {
        return id;
    }

    /** Calls a tool; the answer's body. */
    public String call(String tool, Map<String, Object> arguments) {
        return answer(tool, arguments).body();
    }

    /** Calls a tool; the whole answer, once the node has room for the sandbox that a first call makes. */
    public HttpResponse<String> answer(String tool, Map<String, Object> arguments) {
        String call = CALL.formatted(Attack.literal(tool), Attack.json(arguments));
        return FreshSandboxes.whereThereIsRoom(() -> sent(post(call).header("Mcp-Session-Id", id)), HttpResponse::body);
    }

    /** Ends it; the status. */
    public int end() {
        return sent(request().header("Mcp-Session-Id", id).DELETE()).statusCode();
    }

    private HttpRequest.Builder post(String body) {
        return request()
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private HttpRequest.Builder request() {
        return HttpRequest.newBuilder(endpoint)
                .timeout(Duration.ofMinutes(4))
                .header("Authorization", "Bearer " + token);
    }

    private HttpResponse<String> sent(HttpRequest.Builder request) {
        try {
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
