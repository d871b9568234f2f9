package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /** JSON in MCP is UTF-8; other encodings would pass a proxy before us that looks for words. */
    @ParameterizedTest
    @ValueSource(strings = {"UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32", "UTF-32BE", "UTF-32LE"})
    void onlyUtf8IsRead(String encoding) throws Exception {
        String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        for (String text : List.of(ping, "\ufeff" + ping)) {
            assertThatThrownBy(() -> codec.read(text.getBytes(encoding)))
                    .isInstanceOf(McpError.class)
                    .hasMessageContaining("write it in UTF-8");
        }
    }

    /** A reader may overlook it (RFC 8259, section 8.1), and some editors write it. */
    @Test
    void aByteOrderMarkOfUtf8IsOverlooked() {
        assertThat(read("\ufeff{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"))
                .isInstanceOf(JsonRpc.Incoming.Request.class);
        assertThatThrownBy(() -> read("\ufeff\ufeff{}")).isInstanceOf(McpError.class);
        assertThatThrownBy(() -> read("\ufeff")).isInstanceOf(McpError.class);
    }

    @Test
    void ofManySmallThingsThereIsAMost() {
        JsonCodec large = new JsonCodec(1 << 20);
        // The object, its field and the array have five; each number is one.
        String most = "{\"a\":[" + "0,".repeat(199_994) + "0]}";
        assertThat(large.read(most.getBytes(StandardCharsets.UTF_8)).path("a").size())
                .isEqualTo(199_995);

        String more = most.replace("0]", "0,0]");
        assertThatThrownBy(() -> large.read(more.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(McpError.class)
                .hasMessageContaining("200000 names, values and brackets");
    }

    /** What thirty bytes of text become, each counted once and for what it holds. */
    @Test
    void whatAMessageHoldsBesidesItsTextGrowsWithEveryPart() {
        assertThat(JsonCodec.overhead(codec.read("{}".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(128);
        assertThat(JsonCodec.overhead(codec.read("{\"a\":[{},{},[1]]}".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(6 * 128);
    }
}
