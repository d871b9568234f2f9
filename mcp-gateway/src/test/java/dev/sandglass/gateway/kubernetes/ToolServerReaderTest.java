package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.toolserver.HttpHeader;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a resource says of a shared server, in the gateway's terms. */
class ToolServerReaderTest {

    private static final StdioServer STDIO = new StdioServer(null, "npx", null, null, "~/x");

    private static SandboxToolServer resource(String name, @Nullable StdioServer stdio, @Nullable HttpServer http) {
        var resource = new SandboxToolServer();
        resource.setMetadata(new ObjectMetaBuilder()
                .withNamespace("sandglass-default")
                .withName(name)
                .withUid("0b8a6a6e-51a8-4f5c-9a8e-0f6f5f9f2f11")
                .withGeneration(Long.MAX_VALUE)
                .build());
        resource.setSpec(new SandboxToolServerSpec(stdio, http, null, null, null, null, null, null, null));
        return resource;
    }

    @Test
    void aServerOverHttpIsRead() {
        var http = new HttpServer("https://mcp.example.com/x", List.of(new HttpHeader("X-Key", "k", null)), "sse");
        SharedServer server =
                ToolServerReader.read(resource("brave-search", null, http)).orElseThrow();

        assertThat(server.registration())
                .isEqualTo(new Registration.Url(
                        "brave_search",
                        "https://mcp.example.com/x",
                        Map.of("X-Key", "k"),
                        Registration.Transport.SSE,
                        ToolServerReader.START));
        assertThat(server.kind()).isEqualTo("http");
        assertThat(server.bounds()).isEqualTo(SharedServer.Bounds.DEFAULT);
        assertThat(server.trouble()).isEmpty();
    }

    /** A supervisor takes 64 characters. */
    @Test
    void theLongestRevisionFits() {
        SharedServer server =
                ToolServerReader.read(resource("web", STDIO, null)).orElseThrow();

        assertThat(server.identity().revision()).hasSizeLessThanOrEqualTo(64);
        assertThat(server.registration())
                .isInstanceOfSatisfying(Registration.Command.class, command -> assertThat(command.cwd())
                        .isEqualTo("~/x"));
    }

    @Test
    void whatTheOperatorRefusedIsToldInCleanWords() {
        SandboxToolServer resource = resource("web", STDIO, null);
        var refused = new ConditionBuilder()
                .withType("Accepted")
                .withStatus("False")
                .withReason("NameTaken")
                .withMessage("another\n\u001b[2J Sandbox")
                .build();
        resource.setStatus(new SandboxToolServerStatus(1L, List.of(refused), null));

        assertThat(ToolServerReader.read(resource).orElseThrow().trouble()).contains("NameTaken: another [2J Sandbox");
    }

    @Test
    void whatIsNoServerIsNone() {
        SandboxToolServer leaving = resource("web", STDIO, null);
        leaving.getMetadata().setDeletionTimestamp("2026-11-27T00:00:00Z");
        SandboxToolServer empty = resource("web", STDIO, null);
        empty.setSpec(null);
        var both = resource("web", STDIO, new HttpServer("https://a.example", null, null));
        var carrier = resource("web", null, new HttpServer("https://a.example", null, "carrier"));

        for (SandboxToolServer odd :
                List.of(leaving, empty, both, carrier, resource("9lives", STDIO, null), resource("a.b", STDIO, null))) {
            assertThat(ToolServerReader.read(odd)).isEmpty();
        }
    }
}
