package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonCodecTest {

    private final JsonCodec codec = new JsonCodec(1024);

    private JsonRpc.Incoming read(String body) {
        return JsonCodec.message(codec.read(body.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void theVersionIsATextAndNoNumber() {
        assertThat(read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"))
                .isInstanceOf(JsonRpc.Incoming.Request.class);
        assertThatThrownBy(() -> read("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}"))
                .isInstanceOf(McpError.class)
                .hasMessageContaining("'jsonrpc' must be");
    }

    @Test
    void anIdIsOfWholeCharacters() {
        assertThat(read("{\"jsonrpc\":\"2.0\",\"id\":\"\\ud83d\\ude00\",\"method\":\"ping\"}"))
                .isInstanceOf(JsonRpc.Incoming.Request.class);
        assertThatThrownBy(() -> read("{\"jsonrpc\":\"2.0\",\"id\":\"\\ud83d\",\"method\":\"ping\"}"))
                .isInstanceOf(McpError.class)
                .hasMessageContaining("'id' must be");
    }

    @Test
    void whatIsShownOfACallersTextIsWhole() {
        assertThat(McpError.shown("x".repeat(99) + "😀")).isEqualTo("x".repeat(99) + "…");
        assertThat(McpError.shown("x".repeat(98) + "😀")).isEqualTo("x".repeat(98) + "😀");
        assertThat(McpError.shown("a\ud800\nb")).isEqualTo("a b");
    }
}
