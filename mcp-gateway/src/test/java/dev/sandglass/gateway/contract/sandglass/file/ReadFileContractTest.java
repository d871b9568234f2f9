package dev.sandglass.gateway.contract.sandglass.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.mcp.McpSettings;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.PictureHeads;
import dev.sandglass.gateway.testing.PictureHeads.Format;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** {@code sandbox_read_file} as callers see it: pages of text, and pictures. */
class ReadFileContractTest {

    private static final int BOUND = SandboxFiles.MOST_BYTES;
    private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 1, 2, 3};

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start(new McpSettings(8 * 1024 * 1024, 24 << 20, 64 << 20, Duration.ofSeconds(10)));
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode read(String more) throws Exception {
        return gateway.call("sandbox_read_file", "{\"sandbox\":\"box\"%s}".formatted(more.replace('\'', '"')));
    }

    private static JsonNode facts(JsonNode result) {
        assertThat(result.path("isError").asBoolean())
                .as(TestGateway.text(result))
                .isFalse();
        return result.path("structuredContent");
    }

    private static String refusal(JsonNode result) {
        assertThat(result.path("isError").asBoolean()).isTrue();
        return TestGateway.text(result);
    }

    @Test
    void textIsReadAsItIs() throws Exception {
        gateway.supervisor.files.put("a.txt", "héllo\n");

        JsonNode result = read(",'path':'a.txt'");

        assertThat(TestGateway.text(result)).isEqualTo("héllo\n");
        assertThat(result.path("content").size()).isEqualTo(1);
        JsonNode facts = facts(result);
        assertThat(facts.path("content").asString()).isEqualTo("héllo\n");
        assertThat(facts.path("encoding").asString()).isEqualTo("text");
        assertThat(facts.path("size").asLong()).isEqualTo(7);
        assertThat(facts.path("bytes").asLong()).isEqualTo(7);
        assertThat(facts.path("truncated").asBoolean()).isFalse();
        assertThat(facts.path("next_offset").isNull()).isTrue();
    }

    @Tag("slow")
    @Test
    void pagesNeverCutACharacter() throws Exception {
        String text = "aé€😀".repeat(30);
        gateway.supervisor.files.put("t", text);
        for (int length = 4; length < 12; length++) {
            var whole = new StringBuilder();
            long offset = 0;
            for (boolean more = true; more; ) {
                JsonNode facts = facts(read(",'path':'t','offset':%d,'length':%d".formatted(offset, length)));
                whole.append(facts.path("content").asString());
                assertThat(facts.path("bytes").asLong()).isBetween(1L, (long) length);
                more = facts.path("truncated").asBoolean();
                assertThat(facts.path("next_offset").isNumber()).isEqualTo(more);
                offset = facts.path("next_offset").asLong(0);
            }
            assertThat(whole).as("length %d", length).hasToString(text);
        }
    }

    @Test
    void aPageSaysHowToReadOn() throws Exception {
        gateway.supervisor.files.put("long", "x".repeat(40_000));

        JsonNode result = read(",'path':'long'");

        assertThat(facts(result).path("content").asString()).hasSize(32_768);
        assertThat(result.path("content").size()).isOne();
        assertThat(TestGateway.text(result))
                .endsWith("\n" + FencedText.FENCE
                        + "\n[truncated: bytes 0 to 32768 of 40000] Read on with offset 32768.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                ",'path':'latin' | Error: 'latin' is not UTF-8 text (at byte 1); read it with encoding 'base64'",
                ",'path':'cut' | Error: 'cut' is not UTF-8 text (at byte 1); read it with encoding 'base64'",
                ",'path':'euro','offset':1 | Error: 'offset' 1 of 'euro' is inside a character; the next one begins at 3",
                ",'path':'png','encoding':'text' | Error: 'png' is not UTF-8 text (at byte 0); read it with encoding"
                        + " 'base64'",
                ",'path':'png','offset':4 | ^^",
                ",'path':'none' | Error: There is no file or folder 'none'; sandbox_list_files shows what there is.",
            })
    void whatIsNoTextIsSaid(String arguments, String text) throws Exception {
        gateway.supervisor.files.put("latin", new byte[] {'a', (byte) 0xe9, 'b', 'c', 'd'});
        gateway.supervisor.files.put("cut", new byte[] {'a', (byte) 0xe2, (byte) 0x82});
        gateway.supervisor.files.put("euro", "€uro");
        gateway.supervisor.files.put("png", PNG);

        JsonNode result = read(arguments);

        if (text.isEmpty()) {
            assertThat(facts(result).path("encoding").asString()).isEqualTo("text");
        } else {
            assertThat(refusal(result)).isEqualTo(text);
        }
    }

    @Test
    void emptyFilesAndTheEndOfFilesAreTold() throws Exception {
        gateway.supervisor.files.put("empty", "");
        gateway.supervisor.files.put("a", "abc");

        assertThat(TestGateway.text(read(",'path':'empty'"))).isEqualTo("(empty file)");
        assertThat(TestGateway.text(read(",'path':'a','offset':3"))).isEqualTo("(end of file)");
        assertThat(facts(read(",'path':'empty'")).path("content").asString()).isEmpty();
    }

    @Test
    void aPageOfWhiteSpaceIsToldAsSuch() throws Exception {
        gateway.supervisor.files.put("blank", "\n\t \u00a0\u3000\ufeff\u0085");
        gateway.supervisor.files.put("ends-blank", "x\n\n\n");

        assertThat(TestGateway.text(read(",'path':'blank'"))).isEqualTo("(nothing but white space: 13 bytes)");
        assertThat(facts(read(",'path':'blank'")).path("content").asString())
                .isEqualTo("\n\t \u00a0\u3000\ufeff\u0085");
        assertThat(TestGateway.text(read(",'path':'ends-blank','offset':1")))
                .isEqualTo("(nothing but white space: 3 bytes)");
    }

    @ParameterizedTest
    @EnumSource
    void picturesAreShown(Format format) throws Exception {
        byte[] picture = Arrays.copyOf(PictureHeads.of(format, 640, 480), 200_000);
        gateway.supervisor.files.put("p", picture);

        JsonNode result = read(",'path':'p'");

        assertThat(TestGateway.text(result))
                .isEqualTo("--- sandglass ---\n[Picture: %s, 200000 bytes]".formatted(format.mimeType));
        JsonNode part = result.path("content").path(1);
        assertThat(part.path("type").asString()).isEqualTo("image");
        assertThat(part.path("mimeType").asString()).isEqualTo(format.mimeType);
        assertThat(Base64.getDecoder().decode(part.path("data").asString())).isEqualTo(picture);
        JsonNode facts = facts(result);
        assertThat(facts.path("encoding").asString()).isEqualTo("image");
        assertThat(facts.path("mime_type").asString()).isEqualTo(format.mimeType);
        assertThat(facts.path("content").isNull()).isTrue();
        assertThat(facts.path("truncated").asBoolean()).isFalse();
    }

    @Test
    void aPictureAtTheBoundIsShownAndALargerOneIsNot() throws Exception {
        byte[] picture = PictureHeads.of(Format.PNG, 640, 480);
        gateway.supervisor.files.put("fits", Arrays.copyOf(picture, BOUND));
        gateway.supervisor.files.put("large", Arrays.copyOf(picture, BOUND + 1));

        assertThat(facts(read(",'path':'fits'")).path("bytes").asLong()).isEqualTo(BOUND);
        assertThat(refusal(read(",'path':'large'"))).contains("1048577 bytes", "at most 1048576", "base64");
        assertThat(facts(read(",'path':'large','encoding':'base64'"))
                        .path("next_offset")
                        .asLong())
                .isEqualTo(32_768);
    }

    /** Programs read large files so, and would have each page twice. */
    @ParameterizedTest
    @ValueSource(ints = {49_152, 49_153})
    void aLongPageInBase64StandsOnceForPrograms(int length) throws Exception {
        byte[] bytes = new byte[60_000];
        new Random(7).nextBytes(bytes);
        gateway.supervisor.files.put("long", bytes);
        String base64 = Base64.getEncoder().encodeToString(Arrays.copyOf(bytes, length));
        String arguments = "'path':'long','encoding':'base64','length':" + length;
        String more = "\n[truncated: bytes 0 to %1$d of 60000] Read on with offset %1$d.".formatted(length);

        JsonNode result = read("," + arguments);

        String inText = base64 + "\n--- sandglass ---" + more;
        assertThat(facts(result).path("content").asString()).isEqualTo(base64);
        assertThat(TestGateway.text(result))
                .isEqualTo(
                        length == 49_152
                                ? inText
                                : "--- sandglass ---\n[base64: the data has these 49153 bytes]" + more);
        JsonNode forModels = EndpointClient.of(gateway, "/mcp")
                .call("sandbox_read_file", "{'sandbox':'box',%s}".formatted(arguments));
        assertThat(TestGateway.text(forModels)).isEqualTo(inText);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource
    void aPictureThatIsTooLongForModelsIsNotShown(Format format) throws Exception {
        gateway.supervisor.files.put("longest", PictureHeads.of(format, 10, 8000));
        gateway.supervisor.files.put("longer", PictureHeads.of(format, 8001, 10));

        assertThat(facts(read(",'path':'longest'")).path("encoding").asString()).isEqualTo("image");
        assertThat(refusal(read(",'path':'longer'"))).contains("8001 pixels", "at most 8000", "base64");
        // However little of it was asked for.
        assertThat(refusal(read(",'path':'longer','length':12"))).contains("8001 pixels");
        assertThat(facts(read(",'path':'longer','encoding':'base64'"))
                        .path("encoding")
                        .asString())
                .isEqualTo("base64");
    }

    @Test
    void aPictureWhoseSidesCannotBeFoundIsNotShown() throws Exception {
        gateway.supervisor.files.put("broken", PNG);

        assertThat(refusal(read(",'path':'broken'")))
                .isEqualTo(
                        "Error: 'broken' begins as a picture (image/png) and does not say its width and height: it is"
                                + " cut off or damaged, and no model could look at it; read it with encoding 'base64'");
        assertThat(facts(read(",'path':'broken','encoding':'base64'"))
                        .path("bytes")
                        .asLong())
                .isEqualTo(PNG.length);
    }
}
