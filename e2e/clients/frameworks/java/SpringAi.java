import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.ai.mcp.SyncMcpToolCallback;
import org.springframework.ai.mcp.SyncMcpToolCallbackProvider;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.execution.ToolExecutionException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Spring AI's tool callbacks on the MCP Java SDK; what they return is the text that the model gets. */
final class SpringAi implements Scenario.Client {

    private static final JsonMapper JSON = new JsonMapper();

    public static void main(String[] args) throws Exception {
        Scenario.main(new SpringAi(), Path.of(args[0]));
    }

    @Override
    public Scenario.Connected connect(String url, String authorization) {
        URI endpoint = URI.create(url);
        String query = endpoint.getQuery() == null ? "" : "?" + endpoint.getQuery();
        McpSyncClient client = McpClient.sync(
                        HttpClientStreamableHttpTransport.builder(endpoint.resolve("/").toString())
                                .endpoint(endpoint.getPath() + query)
                                .requestBuilder(HttpRequest.newBuilder().header("Authorization", authorization))
                                .build())
                .build();
        client.initialize();
        Map<String, SyncMcpToolCallback> tools = Arrays.stream(
                        SyncMcpToolCallbackProvider.builder().mcpClients(client).build().getToolCallbacks())
                .map(SyncMcpToolCallback.class::cast)
                .collect(Collectors.toMap(SyncMcpToolCallback::getOriginalToolName, Function.identity()));
        return new Scenario.Connected() {
            @Override
            public List<String> tools() {
                return List.copyOf(tools.keySet());
            }

            @Override
            public Scenario.Answer call(String tool, Map<String, Object> arguments) {
                return answer(tools.get(tool), write(arguments));
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private static Scenario.Answer answer(ToolCallback tool, String arguments) {
        String told;
        try {
            told = tool.call(arguments);
        } catch (ToolExecutionException failed) {
            return new Scenario.Answer(String.valueOf(failed.getMessage()), List.of(), "ToolExecutionException");
        }
        List<Map<String, String>> parts = JSON.readValue(told, new TypeReference<>() {});
        return new Scenario.Answer(
                parts.stream()
                        .filter(part -> part.containsKey("text"))
                        .map(part -> part.get("text"))
                        .collect(Collectors.joining("\n")),
                parts.stream()
                        .filter(part -> part.containsKey("data"))
                        .map(part -> new Scenario.Picture(
                                "base64 in the JSON text for the model", part.get("mimeType"), part.get("data")))
                        .toList(),
                "");
    }

    @Override
    public String version() {
        return System.getProperty("client.version");
    }

    @Override
    public int patienceS() {
        return 20;
    }

    @Override
    public String patience() {
        return "20 s for a call: McpClient.sync(..).requestTimeout, spring.ai.mcp.client.request-timeout";
    }

    @Override
    public boolean cancels() {
        return false;
    }

    @Override
    public Map<String, Object> read(String json) {
        return JSON.readValue(json, new TypeReference<>() {});
    }

    @Override
    public String write(Map<String, Object> value) {
        return JSON.writeValueAsString(value);
    }
}
