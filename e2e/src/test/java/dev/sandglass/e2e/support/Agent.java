package dev.sandglass.e2e.support;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.BlobResourceContents;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CompleteRequest;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import io.modelcontextprotocol.spec.McpSchema.ResourceContents;
import io.modelcontextprotocol.spec.McpSchema.ResourceReference;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Somebody who calls tools: the MCP Java SDK's client over Streamable HTTP, with the results as this module reads them. */
public final class Agent implements AutoCloseable {

    private static final String FILES = "sandbox://{namespace}/{sandbox}/{+path}";

    private final McpSyncClient client;
    private final Map<Object, StreamedCall> streams;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private Agent(McpSyncClient client, Map<Object, StreamedCall> streams) {
        this.client = client;
        this.streams = streams;
    }

    public static Agent connect(URI endpoint, String token) {
        HttpRequest.Builder request = HttpRequest.newBuilder();
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        var transport = HttpClientStreamableHttpTransport.builder(
                        endpoint.resolve("/").toString())
                .endpoint(endpoint.getPath() + "?structured=true&tools=all")
                .requestBuilder(request)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
        var streams = new ConcurrentHashMap<Object, StreamedCall>();
        McpSyncClient client = McpClient.sync(transport)
                .clientInfo(Implementation.builder("sandglass-e2e", "1").build())
                .requestTimeout(Duration.ofMinutes(4))
                .initializationTimeout(Duration.ofSeconds(60))
                .progressConsumer(progress -> handOver(streams, progress))
                .build();
        client.initialize();
        return new Agent(client, streams);
    }

    public List<Tool> tools() {
        return client.listTools().tools();
    }

    public Answer call(String tool, Map<String, Object> arguments) {
        return Answer.of(client.callTool(
                CallToolRequest.builder(tool).arguments(arguments).build()));
    }

    /** Calls in the background and collects the output while it comes. */
    public StreamedCall stream(String tool, Map<String, Object> arguments) {
        String token = UUID.randomUUID().toString();
        var call = new StreamedCall();
        streams.put(token, call);
        var request = CallToolRequest.builder(tool)
                .arguments(arguments)
                .progressToken(token)
                .build();
        call.answeredBy(CompletableFuture.supplyAsync(() -> Answer.of(client.callTool(request)), threads));
        return call;
    }

    /** The words with which a call is refused, be it as a tool's error or as an error of the protocol. */
    public String refusal(String tool, Map<String, Object> arguments) {
        Answer answer;
        try {
            answer = call(tool, arguments);
        } catch (McpError e) {
            return String.valueOf(e.getMessage());
        }
        if (!answer.failed()) {
            throw new AssertionError(tool + " was not refused: " + answer);
        }
        return answer.text();
    }

    /** The URIs of all resources that are listed. */
    public List<String> resources() {
        return client.listResources().resources().stream().map(Resource::uri).toList();
    }

    /** The text of a resource, or its bytes in base64. */
    public String resource(String uri) {
        ResourceContents read = client.readResource(
                        ReadResourceRequest.builder(uri).build())
                .contents()
                .getFirst();
        return read instanceof TextResourceContents text ? text.text() : ((BlobResourceContents) read).blob();
    }

    /** With what the endpoint completes an argument of the files of sandboxes. */
    public List<String> completed(String argument, String typed) {
        return client.completeCompletion(new CompleteRequest(
                        new ResourceReference(FILES),
                        new CompleteRequest.CompleteArgument(argument, typed),
                        null,
                        new CompleteRequest.CompleteContext(Map.of())))
                .completion()
                .values();
    }

    public Answer start(String sandbox) {
        return call("sandbox_start", Map.of("sandbox", sandbox));
    }

    public Answer python(String sandbox, String code) {
        return call("sandbox_run_code", Map.of("sandbox", sandbox, "code", code));
    }

    public Answer command(String sandbox, String command, String... args) {
        return call("sandbox_run_command", Map.of("sandbox", sandbox, "command", command, "args", List.of(args)));
    }

    /** Ends what runs and waits in the default session of a language, and its variables. */
    public void reset(String sandbox, String language) {
        Answer answer = call("sandbox_reset", Map.of("sandbox", sandbox, "language", language));
        if (answer.failed()) {
            throw new AssertionError("no reset: " + answer);
        }
    }

    @Override
    public void close() {
        client.close();
        threads.shutdownNow();
    }

    private static void handOver(Map<Object, StreamedCall> streams, ProgressNotification progress) {
        StreamedCall call = streams.get(progress.progressToken());
        if (call != null) {
            call.progressed(progress);
        }
    }
}
