package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** Some readers end a line at U+0085, U+2028 or U+2029, and take what follows in an event for nothing. */
class LineSeparatorsTest {

    private static final String ALL = "a\u0085b\u2028c\u2029d";

    private static String escaped(String json) {
        return new String(LineSeparators.escaped(json.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
    }

    @Test
    void theyAreEscapedWhereverTheyStand() {
        assertThat(escaped("\"" + ALL + "\"")).isEqualTo("\"a\\u0085b\\u2028c\\u2029d\"");
        assertThat(escaped("\u2028")).isEqualTo("\\u2028");
        assertThat(escaped("\u2029".repeat(1000))).isEqualTo("\\u2029".repeat(1000));
        assertThat(escaped("\u0085".repeat(1000))).isEqualTo("\\u0085".repeat(1000));
    }

    @Test
    void theirNeighboursStay() {
        String neighbours = "\u0084\u0086\u00a0\u2027\u202a\u2068\u1028\u3028\ud83d\ude00\u00e9";
        assertThat(escaped(neighbours)).isEqualTo(neighbours);
    }

    @Test
    void aTextOfAnyCharactersIsReadBackAsItWas() {
        var random = new Random(7);
        for (int i = 0; i < 200; i++) {
            String text = random.ints(random.nextInt(60), 0, 0x3000)
                    .filter(letter -> !Character.isSurrogate((char) letter))
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
            byte[] json = new JsonCodec(1 << 20).write(Map.of(text, List.of(text)));
            String written = new String(json, StandardCharsets.UTF_8);
            assertThat(written.lines()).hasSize(1);
            assertThat(written).doesNotContain("\u0085", "\u2028", "\u2029");
            assertThat(JsonMapper.shared().readTree(json).path(text).path(0).asString())
                    .isEqualTo(text);
        }
    }

    /** An unknown method is repeated in the answer. */
    @ParameterizedTest
    @ValueSource(strings = {"application/json", "text/event-stream"})
    void noAnswerHoldsOne(String accept) throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
            HttpResponse<String> answer =
                    gateway.send(gateway.post("{\"jsonrpc\":\"2.0\",\"id\":\"" + ALL + "\",\"method\":\"ping\"}")
                            .setHeader("Accept", accept));
            assertThat(answer.body())
                    .contains("a\\u0085b\\u2028c\\u2029d")
                    .doesNotContain("\u0085", "\u2028", "\u2029");
        }
    }
}
