package dev.sandglass.gateway.mcp.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A client that we did not write: the MCP Java SDK, which also checks our results against our output schemas. */
class SdkClientTest {

    private final List<McpSchema.ProgressNotification> progress = new CopyOnWriteArrayList<>();
    private TestGateway gateway;
    private McpSyncClient client;

    @BeforeEach
    void connect() {
        gateway = TestGateway.start();
        var transport = HttpClientStreamableHttpTransport.builder(gateway.base())
                .endpoint("/mcp?structured=true")
                .requestBuilder(HttpRequest.newBuilder().header("Authorization", "Bearer " + TestGateway.KEY))
                .build();
        client = McpClient.sync(transport)
                .requestTimeout(Duration.ofSeconds(20))
                .enableCallToolSchemaCaching(true)
                .progressConsumer(progress::add)
                .build();
        client.initialize();
    }

    @AfterEach
    void close() {
        client.close();
        gateway.close();
    }

    private McpSchema.CallToolResult call(String tool, Map<String, Object> arguments) {
        return client.callTool(
                McpSchema.CallToolRequest.builder(tool).arguments(arguments).build());
    }

    @Test
    void itSeesWhoWeAreAndWhatWeOffer() {
        assertThat(client.getServerInfo().name()).isEqualTo("sandglass");
        assertThat(client.listTools().tools())
                .extracting(McpSchema.Tool::name)
                .containsExactly(
                        "sandbox_start",
                        "sandbox_stop",
                        "sandbox_run_code",
                        "sandbox_run_command",
                        "sandbox_install_packages",
                        "sandbox_get_execution",
                        "sandbox_interrupt",
                        "sandbox_reset",
                        "sandbox_close_session",
                        "sandbox_read_file",
                        "sandbox_write_file",
                        "sandbox_list_files",
                        "sandbox_manage_files",
                        "sandbox_list",
                        "sandbox_get_metrics");
        assertThat(client.listPrompts().prompts()).hasSize(2);
        client.ping();
    }

    @Test
    void everyToolsResultIsOfTheShapeThatItDeclares() {
        client.listTools();
        Map<String, Object> box = Map.of("sandbox", "box");

        assertThat(call("sandbox_start", box).isError()).isFalse();
        McpSchema.CallToolResult run = call("sandbox_run_code", Map.of("sandbox", "box", "code", "print hello"));
        assertThat(run.content())
                .singleElement()
                .isInstanceOfSatisfying(McpSchema.TextContent.class, text -> assertThat(text.text())
                        .isEqualTo("hello"));
        assertThat(call("sandbox_run_code", Map.of("sandbox", "box", "code", "raise"))
                        .isError())
                .isTrue();
        assertThat(call("sandbox_run_command", Map.of("sandbox", "box", "command", "ls -l"))
                        .structuredContent())
                .isNotNull();
        Object id = ((Map<?, ?>) run.structuredContent()).get("execution_id");
        assertThat(call("sandbox_get_execution", Map.of("execution_id", id)).isError())
                .isFalse();
        assertThat(call("sandbox_install_packages", Map.of("sandbox", "box", "packages", List.of("a")))
                        .isError())
                .isFalse();
        assertThat(call("sandbox_get_metrics", Map.of()).isError()).isFalse();
        for (String tool : List.of("sandbox_interrupt", "sandbox_reset", "sandbox_close_session")) {
            assertThat(call(tool, box).isError()).as(tool).isFalse();
        }
        Map<String, Object> file = Map.of("sandbox", "box", "path", "f", "content", "x");
        assertThat(call("sandbox_write_file", file).isError()).isFalse();
        file = Map.of("sandbox", "box", "path", "f");
        assertThat(call("sandbox_read_file", file).isError()).isFalse();
        assertThat(call("sandbox_list_files", box).isError()).isFalse();
        for (String action : List.of("mkdir", "stat", "delete")) {
            file = Map.of("sandbox", "box", "path", "f", "action", action);
            assertThat(call("sandbox_manage_files", file).isError()).as(action).isFalse();
        }
        assertThat(call("sandbox_list", Map.of()).isError()).isFalse();
        assertThat(call("sandbox_stop", box).isError()).isFalse();
    }

    @Test
    void itReadsFilesAsResourcesAndCompletesTheirTemplate() {
        gateway.sandboxes.addRunning("box");
        gateway.supervisor.files.put("a.csv", "x,y\n1,2\n");
        McpSchema.ServerCapabilities ours = client.getServerCapabilities();
        assertThat(ours.completions()).isNotNull();
        assertThat(ours.resources().subscribe()).isNotEqualTo(true);

        McpSchema.ResourceTemplate template =
                client.listResourceTemplates().resourceTemplates().getFirst();
        McpSchema.Resource resource = client.listResources().resources().getFirst();
        McpSchema.ResourceContents read =
                client.readResource(resource).contents().getFirst();
        McpSchema.CompleteResult completed = client.completeCompletion(new McpSchema.CompleteRequest(
                new McpSchema.ResourceReference(template.uriTemplate()),
                new McpSchema.CompleteRequest.CompleteArgument("path", "a"),
                null,
                new McpSchema.CompleteRequest.CompleteContext(Map.of("namespace", "default", "sandbox", "box"))));

        assertThat(resource.uri()).isEqualTo("sandbox://default/box/a.csv");
        assertThat(resource.mimeType()).isEqualTo("text/csv");
        assertThat(resource.size()).isEqualTo(8);
        assertThat(read).isInstanceOfSatisfying(McpSchema.TextResourceContents.class, text -> assertThat(text.text())
                .isEqualTo("x,y\n1,2\n"));
        assertThat(completed.completion().values()).containsExactly("a.csv");
        assertThat(completed.completion().hasMore()).isFalse();
    }

    @Test
    void itHearsOutputAsProgress() {
        gateway.sandboxes.addRunning("box");

        McpSchema.CallToolResult result = client.callTool(McpSchema.CallToolRequest.builder("sandbox_run_code")
                .arguments(Map.of("sandbox", "box", "code", "flood 3"))
                .progressToken("p-1")
                .build());

        assertThat(result.isError()).isFalse();
        // The SDK runs its handlers side by side, so their order says nothing; the order on the wire is
        // StreamingTest's.
        await().untilAsserted(() -> assertThat(progress)
                .extracting(McpSchema.ProgressNotification::progress)
                .containsExactlyInAnyOrder(65_536.0, 131_072.0, 196_608.0));
    }
}
