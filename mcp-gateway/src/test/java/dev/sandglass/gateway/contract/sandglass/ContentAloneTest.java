package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/**
 * What each kind of client hands to its model, by what they were measured to do: some prefer data and drop all content, some
 * take the first text alone, some take texts and drop pictures. At {@code /mcp} nothing is lost in any of them.
 */
class ContentAloneTest {

    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    private static JsonNode call(String target, String tool, String arguments) throws Exception {
        String body = TestGateway.toolCall(tool, arguments.replace('\'', '"'));
        return gateway.json(gateway.send(gateway.post(body).uri(URI.create(gateway.base() + target))))
                .path("result");
    }

    /** Claude Code, Codex and OpenCode: data if there is any, else the content. */
    private static JsonNode prefersData(JsonNode result) {
        return result.has("structuredContent") ? result.path("structuredContent") : result.path("content");
    }

    private static String firstText(JsonNode result) {
        return result.path("content").path(0).path("text").asString("");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sandbox_run_code | {'sandbox':'box','code':'print 42'} | 42",
                "sandbox_run_code | {'sandbox':'box','code':'raise'} | [error] ",
                "sandbox_run_code | {'sandbox':'box','code':'1','wait':'x'} | Error: 'wait' must be",
                "sandbox_list | {} | box",
                "sandbox_get_metrics | {} | memory_usage",
                "sandbox_start | {'sandbox':'box'} | started successfully",
            })
    void everyKindOfClientSeesTheTextOfEveryAnswer(String tool, String arguments, String seen) throws Exception {
        JsonNode result = call("/mcp", tool, arguments);

        assertThat(result.has("structuredContent")).isFalse();
        assertThat(prefersData(result).toString()).contains(seen);
        assertThat(firstText(result)).contains(seen);
        assertThat(result.path("content")
                        .valueStream()
                        .filter(part -> part.path("type").asString().equals("text")))
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"/mcp?structured=true, true", "/mcp?structured=false, false", "/mcp, false"})
    void programsAskForData(String target, boolean given) throws Exception {
        assertThat(call(target, "sandbox_run_code", "{'sandbox':'box','code':'print 42'}")
                        .has("structuredContent"))
                .isEqualTo(given);
    }
}
