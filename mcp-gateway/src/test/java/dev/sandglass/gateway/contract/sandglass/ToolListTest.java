package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What a model is given before its first call: each character of it is paid for in each conversation. */
class ToolListTest {

    private static final int MOST_CHARACTERS = 14_000;

    /** Of the tools for MCP servers. */
    private static final int MOST_CHARACTERS_MORE = 3_000;

    private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}";

    /** What OpenAI's strict mode knows; clients make optional properties nullable and required by themselves. */
    private static final Set<String> STRICT = Set.of(
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "anyOf",
            "minimum",
            "maximum");

    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.start();
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    @Test
    void theWholeListIsShort() throws Exception {
        JsonNode tools = list("/mcp");

        assertThat(tools).hasSize(15);
        assertThat(tools.toString().length()).isLessThanOrEqualTo(MOST_CHARACTERS);
        assertThat(tools.valueStream()).noneMatch(tool -> tool.has("outputSchema"));
    }

    @ParameterizedTest
    @CsvSource({"/mcp?structured=true,15", "/mcp?tools=all&structured=true,18"})
    void programsAreGivenSchemasOfTheData(String target, int count) throws Exception {
        assertThat(list(target).valueStream()).hasSize(count).allMatch(tool -> tool.has("outputSchema"));
    }

    @Test
    void thoseForMcpServersAreListedToWhoAsksForAll() throws Exception {
        List<String> all = list("/mcp?tools=all")
                .valueStream()
                .map(tool -> tool.path("name").asString())
                .toList();

        assertThat(all).endsWith("mcp_register_server", "mcp_list_servers", "mcp_remove_server");
        assertThat(all.subList(0, 15))
                .containsExactlyElementsOf(list("/mcp")
                        .valueStream()
                        .map(tool -> tool.path("name").asString())
                        .toList());
    }

    @Test
    void thoseForMcpServersAreShort() throws Exception {
        int everyday = list("/mcp").toString().length();

        assertThat(list("/mcp?tools=all").toString().length()).isLessThanOrEqualTo(everyday + MOST_CHARACTERS_MORE);
    }

    @Test
    void theCoreIsSevenTools() throws Exception {
        assertThat(list("/mcp?tools=core").valueStream())
                .extracting(tool -> tool.path("name").asString())
                .containsExactly(
                        "sandbox_start",
                        "sandbox_stop",
                        "sandbox_run_code",
                        "sandbox_run_command",
                        "sandbox_read_file",
                        "sandbox_write_file",
                        "sandbox_get_metrics");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            /mcp?tool=core                | 'tool' is not known; known are structured, tools, wait
            /mcp?wait=4&sandbox=my-box    | 'sandbox' is not known; known are structured, tools, wait
            /mcp?Structured=true          | 'Structured' is not known; known are structured, tools, wait
            /mcp?key=s3cret               | 'key' is not known; known are structured, tools, wait
            /mcp?structured               | 'structured' must have a value, as in structured=…
            """)
    void aParameterThatMeansNothingIsRefusedByItsName(String target, String words) throws Exception {
        HttpResponse<String> answer = ask(target);

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(gateway.json(answer).at("/error/message").asString())
                .endsWith("in the URL: " + words)
                .doesNotContain("s3cret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mcp?", "/mcp?&", "/mcp?tools=core&&wait=20&structured=false"})
    void emptyPartsOfAQueryMeanNothing(String target) throws Exception {
        assertThat(ask(target).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mcp?structured=yes",
                "/mcp?structured=true&structured=true",
                "/mcp?structured=",
                "/mcp?tools=some",
                "/mcp?tools=core&tools=all",
            })
    void aSwitchThatSaysNeitherIsRefusedByItsName(String target) throws Exception {
        HttpResponse<String> answer = ask(target);

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(gateway.json(answer).at("/error/message").asString())
                .contains(target.contains("tools") ? "'tools' in the URL must be" : "'structured' in the URL must be");
    }

    @Test
    void everySchemaHasAStrictForm() throws Exception {
        list("/mcp?tools=all").forEach(tool -> check(tool.path("name").asString(), tool.path("inputSchema")));
    }

    private static void check(String place, JsonNode schema) {
        assertThat(STRICT).as(place).containsAll(schema.propertyNames());
        if (schema.path("type").asString().equals("object")) {
            assertThat(schema.path("properties").isObject()).as(place).isTrue();
        }
        assertThat(schema.path("additionalProperties").isObject()).as(place).isFalse();
        schema.path("properties").properties().forEach(each -> check(place + "." + each.getKey(), each.getValue()));
        for (JsonNode form : schema.path("anyOf")) {
            check(place, form);
        }
        if (schema.has("items")) {
            check(place + "[]", schema.path("items"));
        }
    }

    @Test
    void longAnswersAreAnnounced() throws Exception {
        List<String> announced = list("/mcp")
                .valueStream()
                .filter(tool ->
                        tool.path("_meta").path("anthropic/maxResultSizeChars").asInt() == 200_000)
                .map(tool -> tool.path("name").asString())
                .toList();

        assertThat(announced)
                .containsExactly(
                        "sandbox_run_code", "sandbox_run_command", "sandbox_get_execution", "sandbox_read_file");
    }

    private static JsonNode list(String target) throws Exception {
        return gateway.json(ask(target)).path("result").path("tools");
    }

    private static HttpResponse<String> ask(String target) throws Exception {
        return gateway.send(gateway.post(LIST).uri(URI.create(gateway.base() + target)));
    }
}
