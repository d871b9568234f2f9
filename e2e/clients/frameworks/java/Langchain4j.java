import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.exception.ToolExecutionException;
import dev.langchain4j.mcp.client.DefaultMcpClient;
import dev.langchain4j.mcp.client.McpClient;
import dev.langchain4j.mcp.client.transport.http.StreamableHttpMcpTransport;
import dev.langchain4j.service.tool.ToolExecutionResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * LangChain4j's MCP client. Its own extractor throws at any picture ("Unsupported content type"), and loses the text beside
 * it, so it gets one that knows pictures.
 */
final class Langchain4j implements Scenario.Client {

    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        Scenario.main(new Langchain4j(), Path.of(args[0]));
    }

    @Override
    public Scenario.Connected connect(String url, String authorization) {
        var told = new AtomicInteger();
        McpClient client = DefaultMcpClient.builder()
                .transport(StreamableHttpMcpTransport.builder()
                        .url(url)
                        .customHeaders(Map.of("Authorization", authorization))
                        .build())
                .toolResultExtractor(Langchain4j::extract)
                .progressHandler(progress -> told.incrementAndGet())
                .build();
        return new Scenario.Connected() {
            @Override
            public List<String> tools() {
                return client.listTools().stream().map(ToolSpecification::name).toList();
            }

            @Override
            public Scenario.Answer call(String tool, Map<String, Object> arguments) {
                ToolExecutionResult result;
                try {
                    result = client.executeTool(ToolExecutionRequest.builder()
                            .name(tool)
                            .arguments(write(arguments))
                            .build());
                } catch (ToolExecutionException failed) {
                    return new Scenario.Answer(String.valueOf(failed.getMessage()), List.of(), "ToolExecutionException");
                }
                return new Scenario.Answer(
                        result.resultContents().stream()
                                .filter(TextContent.class::isInstance)
                                .map(part -> ((TextContent) part).text())
                                .collect(Collectors.joining("\n")),
                        result.resultContents().stream()
                                .filter(ImageContent.class::isInstance)
                                .map(Langchain4j::picture)
                                .toList(),
                        "");
            }

            @Override
            public int progress() {
                return told.get();
            }

            @Override
            public void close() {
                try {
                    client.close();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }

    private static ToolExecutionResult extract(JsonNode content, boolean isError) {
        List<Content> parts = StreamSupport.stream(content.spliterator(), false)
                .map(part -> part.path("type").asText().equals("image")
                        ? (Content) ImageContent.from(part.path("data").asText(), part.path("mimeType").asText())
                        : TextContent.from(part.path("text").asText()))
                .toList();
        return ToolExecutionResult.builder().isError(isError).resultContents(parts).build();
    }

    private static Scenario.Picture picture(Content content) {
        var image = ((ImageContent) content).image();
        return new Scenario.Picture(
                "ImageContent by a toolResultExtractor (the default one throws)", image.mimeType(), image.base64Data());
    }

    @Override
    public String version() {
        return System.getProperty("client.version");
    }

    @Override
    public int patienceS() {
        return 60;
    }

    @Override
    public String patience() {
        return "60 s for a call: DefaultMcpClient.Builder.toolExecutionTimeout";
    }

    @Override
    public boolean cancels() {
        return false;
    }

    @Override
    public Map<String, Object> read(String json) {
        try {
            return JSON.readValue(json, new TypeReference<>() {});
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Override
    public String write(Map<String, Object> value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
