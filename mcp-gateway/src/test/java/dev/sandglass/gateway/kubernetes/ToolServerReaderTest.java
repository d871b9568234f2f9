package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.sandglass.api.toolserver.HttpHeader;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.api.toolserver.SecretKeyRef;
import dev.sandglass.api.toolserver.ServerVariable;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ValueSource;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SecretEntry;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a resource says of a shared server, in the gateway's terms. */
class ToolServerReaderTest {

    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();
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

    private static ValueSource source(String secret, String key) {
        return new ValueSource(new SecretKeyRef(secret, key));
    }

    private static SandboxToolServer withVariable(@Nullable ValueSource source) {
        var env = List.of(new ServerVariable("A", "b", null), new ServerVariable("TOKEN", null, source));
        return resource("web", new StdioServer(null, "npx", null, env, null), null);
    }

    private static SandboxToolServer withHeader(@Nullable ValueSource source) {
        var headers = List.of(new HttpHeader("X-Plain", "b", null), new HttpHeader("Authorization", null, source));
        return resource("web", null, new HttpServer("https://a.example", headers, null));
    }

    @Test
    void valuesOfSecretsAreNamedAndNotKnown() {
        ValueSource token = source("sandglass-mcp-web", "token");

        Registration stdio =
                ToolServerReader.read(withVariable(token)).orElseThrow().registration();
        assertThat(stdio.secrets()).containsExactly(entry("TOKEN", new SecretEntry("sandglass-mcp-web", "token")));
        assertThat(((Registration.Command) stdio).env()).containsExactly(entry("A", "b"));
        Registration http =
                ToolServerReader.read(withHeader(token)).orElseThrow().registration();
        assertThat(http.secrets())
                .containsExactly(entry("Authorization", new SecretEntry("sandglass-mcp-web", "token")));
        assertThat(((Registration.Url) http).headers()).containsExactly(entry("X-Plain", "b"));
    }

    /** The control is the test before: an entry that is open. */
    @ParameterizedTest
    @CsvSource({
        "mountable-a, token",
        "sbx-a, token",
        "sandglass-mcp-, token",
        "sandglass-mcp-a/../b, token",
        "sandglass-mcp-a, ..",
        "sandglass-mcp-a, ..data",
        "sandglass-mcp-a, a/b",
        "sandglass-mcp-a, ''",
        "sandglass-mcp-a,",
        ", token",
    })
    void aServerWithAValueOfAnotherSecretIsNone(@Nullable String secret, @Nullable String key) {
        var source = SERIALIZATION.convertValue(Map.of("secretKeyRef", fields(secret, key)), ValueSource.class);

        assertThat(ToolServerReader.read(withVariable(source))).isEmpty();
        assertThat(ToolServerReader.read(withHeader(source))).isEmpty();
    }

    @Test
    void aValueOfAnUnknownSourceIsNone() {
        ValueSource unknown = SERIALIZATION.convertValue(Map.of("fieldRef", Map.of()), ValueSource.class);

        assertThat(ToolServerReader.read(withVariable(unknown))).isEmpty();
        assertThat(ToolServerReader.read(withHeader(unknown))).isEmpty();
    }

    private static Map<String, String> fields(@Nullable String secret, @Nullable String key) {
        var fields = new HashMap<String, String>();
        if (secret != null) {
            fields.put("name", secret);
        }
        if (key != null) {
            fields.put("key", key);
        }
        return fields;
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
