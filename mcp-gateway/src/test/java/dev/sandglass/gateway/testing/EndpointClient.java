package dev.sandglass.gateway.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A client of one endpoint of a gateway.
 *
 * @param gateway that it asks
 * @param path with query
 * @param key of its caller
 * @param session that it names; empty for none
 */
public record EndpointClient(TestGateway gateway, String path, String key, Optional<String> session) {

    private static final String INITIALIZE = """
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},\
            "clientInfo":{"name":"t","version":"1"}}}""";

    /** Alice's, without a session. */
    public static EndpointClient of(TestGateway gateway, String path) {
        return new EndpointClient(gateway, path, TestGateway.KEY, Optional.empty());
    }

    /** The same with another key. */
    public EndpointClient withKey(String other) {
        return new EndpointClient(gateway, path, other, session);
    }

    /** The same with that session. */
    public EndpointClient withSession(String id) {
        return new EndpointClient(gateway, path, key, Optional.of(id));
    }

    /** The same in a session of its own, which an answer to {@code initialize} gave. */
    public EndpointClient initialized() throws IOException, InterruptedException {
        return withSession(
                send(INITIALIZE).headers().firstValue("Mcp-Session-Id").orElseThrow());
    }

    /** Posts a message. */
    public HttpResponse<String> send(String message) throws IOException, InterruptedException {
        return gateway.send(request(gateway.post(message)));
    }

    /** Ends its session. */
    public HttpResponse<String> delete() throws IOException, InterruptedException {
        return gateway.send(request(HttpRequest.newBuilder().DELETE()));
    }

    /** Calls a tool, and has the whole answer. */
    public HttpResponse<String> answer(String tool, String arguments) throws IOException, InterruptedException {
        return send(TestGateway.toolCall(tool, arguments.replace('\'', '"')));
    }

    /** Calls a tool; the result. Quotes of the arguments may be single ones. */
    public JsonNode call(String tool, String arguments) throws IOException, InterruptedException {
        return gateway.json(answer(tool, arguments)).path("result");
    }

    /** The same; the JSON that its text is. */
    public JsonNode data(String tool, String arguments) throws IOException, InterruptedException {
        return JsonMapper.shared().readTree(TestGateway.text(call(tool, arguments)));
    }

    private HttpRequest.Builder request(HttpRequest.Builder request) {
        request.uri(URI.create(gateway.base() + path)).setHeader("Authorization", "Bearer " + key);
        session.ifPresent(id -> request.setHeader("Mcp-Session-Id", id));
        return request;
    }
}
