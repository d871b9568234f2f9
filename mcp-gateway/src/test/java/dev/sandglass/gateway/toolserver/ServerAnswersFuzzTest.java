package dev.sandglass.gateway.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whatever a sandbox tells of MCP servers: it is read within its bounds, or left out. */
class ServerAnswersFuzzTest {

    private static final JsonMapper JSON = JsonMapper.shared();

    private static List<List<byte[]>> corpus() {
        return Stream.of("""
                        {"name":"web","server_info":{"name":"Web é","version":"1","protocol_version":"2025-11-25"},\
                        "tools":[{"name":"a-b","module":"a_b","description":"Adds \\u202e numbers\\n."}],"notes":["one"]}""", """
                        {"servers":[{"name":"web","state":"running","command":"npx","tools":[{"module":"a"}]},\
                        {"name":"x","state":"ended","url":"https://a.example.com","tools":[]}]}""", "{\"tools\":[{\"module\":7},{\"module\":null}],\"servers\":{},\"notes\":[[]]}")
                .map(text -> List.of(text.getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    @Test
    void anyAnswer() throws IOException {
        Fuzz.attack(FrameMutator::new, "toolserver", corpus(), message -> {
            if (!message.isEmpty()) {
                examine(message.getFirst());
            }
        });
    }

    private static void examine(byte[] answer) {
        JsonNode json;
        try {
            json = JSON.readTree(answer);
        } catch (JacksonException noJson) {
            return;
        }
        RegisteredServer server = ServerAnswers.registered("web", json);
        tools(server.tools());
        assertThat(server.leftOut()).isNotNegative();
        assertThat(server.notes()).hasSizeLessThanOrEqualTo(ServerAnswers.MOST_NOTES);
        server.notes().forEach(note -> line(note, ServerAnswers.MAX_NOTE));
        line(server.info().name(), ServerAnswers.MAX_NAME);
        line(server.info().version(), ServerAnswers.MAX_NAME);
        line(server.info().protocolVersion(), ServerAnswers.MAX_NAME);
        List<KnownServer> all = ServerAnswers.listed(json);
        assertThat(all).hasSizeLessThanOrEqualTo(ServerAnswers.MOST_SERVERS);
        all.forEach(known -> {
            assertThat(ServerName.isName(known.name())).isTrue();
            line(known.origin(), ServerAnswers.MAX_NAME);
            tools(known.tools());
        });
    }

    private static void tools(List<ServerTool> tools) {
        assertThat(tools).hasSizeLessThanOrEqualTo(ServerAnswers.MOST_TOOLS);
        tools.forEach(tool -> {
            assertThat(tool.module()).matches("[A-Za-z_][A-Za-z0-9_]{0,127}");
            line(tool.name(), ServerAnswers.MAX_NAME);
            line(tool.description(), ServerAnswers.MAX_DESCRIPTION);
        });
    }

    /** One line that shows itself, with a mark where it was cut. */
    private static void line(String text, int most) {
        assertThat(text.length()).isLessThanOrEqualTo(most + 1);
        assertThat(ForeignText.line(text, most + 1)).isEqualTo(text);
    }
}
