package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.gateway.toolserver.SharedServerState.Tool;
import dev.sandglass.gateway.toolserver.SharedServerState.Tools;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Lists of tools as pods give them: what the rules leave passes unchanged, whatever else is in them. */
class ToolListingTest {

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final ToolRules RULES = new ToolRules(null, List.of("deny*"), List.of("ask"));

    private static Optional<ToolListing> read(String list) {
        return ToolListing.of("web", Blob.utf8(list), RULES);
    }

    private static String json(String list) {
        return new String(read(list).orElseThrow().json().bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void whatIsAllowedStaysAsItIs() {
        String kept = "{ \"title\":\"é 😀\", \"name\":\"a-b\",\"inputSchema\":{\"name\":[1.50,{\"name\":\"deny\"}]} }";
        assertThat(json("{\"tools\":[{\"name\":\"deny_1\"}," + kept + " ,{\"name\":\"ask\"}],\"left_out\":3}"))
                .isEqualTo("{\"server\":\"web\",\"tools\":[" + kept + "],\"left_out\":3}");
    }

    @Test
    void whatHasNoNameOrTwoIsLeftOut() {
        assertThat(json("""
                        {"tools":[{"description":"none"},{"name":7},{"name":{"name":"deep"}},{"name":""},{"name":"a","name":"deny"},\
                        {"name":"%s"},"text",[{"name":"deep"}],{"name":"good"}]}""".formatted("x".repeat(257))))
                .isEqualTo("{\"server\":\"web\",\"tools\":[{\"name\":\"good\"}],\"left_out\":0}");
    }

    @Test
    void aNameMayHaveAsManyCharactersOfAnyPlane() {
        String tool = "{\"name\":\"%s\"}".formatted("😀".repeat(256));
        assertThat(json("{\"tools\":[%s,{\"name\":\"%s\"}]}".formatted(tool, "😀".repeat(257))))
                .isEqualTo("{\"server\":\"web\",\"tools\":[%s],\"left_out\":0}".formatted(tool));
    }

    @Test
    void whatIsNoListIsNone() {
        for (String odd : List.of("", "[]", "7", "{", "{\"tools\":[", "{\"tools\":[{]}")) {
            assertThat(read(odd)).as(odd).isEmpty();
        }
        byte[] wide = "{\"tools\":[{\"name\":\"a\"}]}".getBytes(StandardCharsets.UTF_16BE);
        assertThat(ToolListing.of("web", Blob.of(wide), RULES)).isEmpty();
        assertThat(json("{}")).isEqualTo("{\"server\":\"web\",\"tools\":[],\"left_out\":0}");
    }

    @Test
    void moreToolsThanMayBeAreCounted() {
        String many = IntStream.range(0, ToolListing.MOST + 5)
                .mapToObj(i -> "{\"name\":\"t" + i + "\",\"description\":\"" + "d".repeat(500) + "\"}")
                .collect(Collectors.joining(","));
        ToolListing listing = read("{\"tools\":[" + many + "]}").orElseThrow();
        JsonNode json = JSON.readTree(listing.json().bytes());
        assertThat(json.path("tools")).hasSize(ToolListing.MOST);
        assertThat(json.path("left_out").asInt()).isEqualTo(5);
        assertThat(listing.count()).isEqualTo(ToolListing.MOST + 5);
        assertThat(listing.tools().known()).hasSize(Tools.MOST);
        assertThat(listing.tools().leftOut()).isEqualTo(ToolListing.MOST + 5 - Tools.MOST);
        assertThat(listing.tools().known().getFirst())
                .isEqualTo(new Tool("t0", "d".repeat(Tools.MAX_DESCRIPTION) + "…"));
    }

    private static ToolListing listing(String... tools) {
        return read("{\"tools\":[" + String.join(",", tools) + "],\"left_out\":3}")
                .orElseThrow();
    }

    @Test
    void allToolsCountAlsoThoseThatCodeMayNotCall() {
        ToolListing listing =
                listing("{\"name\":\"a\"}", "{\"name\":\"deny_1\"}", "{\"name\":\"ask\"}", "{\"name\":7}");

        assertThat(listing.count()).isEqualTo(6);
        assertThat(listing.tools().known()).hasSize(1);
    }

    @Test
    void theHashIsOfNamesAndSchemasAndOfNothingElse() {
        String one = "{\"name\":\"a\",\"description\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{}}";
        String other = "{\"name\":\"b\",\"inputSchema\":{}}";
        String hash = listing(one, other).hash();

        assertThat(hash).matches("sha256:[0-9a-f]{64}");
        assertThat(listing(other, one).hash()).as("another order").isEqualTo(hash);
        assertThat(listing(one.replace("x", "other words"), other).hash()).isEqualTo(hash);
        assertThat(listing("{\"inputSchema\":{},\"name\":\"b\"}", one).hash()).isEqualTo(hash);
        for (String changed : List.of(
                one.replace("\"a\"", "\"c\""),
                one.replace("object", "array"),
                one.replace("\"outputSchema\":{}", "\"outputSchema\":[]"),
                one.replace("outputSchema", "other"),
                one.replace("outputSchema", "input").replace("inputSchema", "outputSchema"))) {
            assertThat(listing(changed, other).hash()).as(changed).isNotEqualTo(hash);
        }
        assertThat(listing(one).hash()).isNotEqualTo(hash);
    }

    private static List<List<byte[]>> corpus() {
        return Stream.of(
                        """
                        {"server":"web","tools":[{"name":"a-b","description":"Adds \\u202e numbers\\n.",\
                        "inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}},\
                        {"name":"deny_x","description":"é"}],"left_out":2}""",
                        "{\"tools\":[{\"name\":\"ask\"},{\"name\":null}],\"tools\":[{\"name\":\"b\"}],\"left_out\":-1}",
                        "{\"left_out\":99999999999999999999,\"tools\":{\"tools\":[{\"name\":\"c\"}]}}")
                .map(text -> List.of(text.getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    @Test
    void anyList() throws IOException {
        Fuzz.attack(FrameMutator::new, "toolcall-list", corpus(), message -> {
            if (!message.isEmpty()) {
                ToolListing.of("web", Blob.of(message.getFirst()), RULES).ifPresent(ToolListingTest::examine);
            }
        });
    }

    private static void examine(ToolListing listing) {
        JsonNode json = JSON.readTree(listing.json().bytes());
        assertThat(json.path("tools").size()).isBetween(0, ToolListing.MOST);
        assertThat(json.path("left_out").asInt()).isNotNegative();
        assertThat(listing.count()).isGreaterThanOrEqualTo(json.path("tools").size());
        for (JsonNode tool : json.path("tools")) {
            assertThat(RULES.verdict(tool.path("name").asString())).isEqualTo(ToolRules.Verdict.ALLOWED);
        }
        assertThat(listing.tools().known()).hasSizeLessThanOrEqualTo(Tools.MOST);
        assertThat(listing.tools().leftOut()).isNotNegative();
        for (Tool tool : listing.tools().known()) {
            line(tool.name(), Tools.MAX_NAME);
            line(tool.description(), Tools.MAX_DESCRIPTION);
        }
    }

    private static void line(String text, int most) {
        assertThat(text.length()).isLessThanOrEqualTo(most + 1);
        assertThat(ForeignText.line(text, most + 1)).isEqualTo(text);
    }
}
