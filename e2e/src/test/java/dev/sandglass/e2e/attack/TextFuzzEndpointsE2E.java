package dev.sandglass.e2e.attack;

import static dev.sandglass.e2e.support.TextOracle.canBeRead;
import static dev.sandglass.e2e.support.TextOracle.digest;
import static dev.sandglass.e2e.support.TextOracle.isOurs;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.ComponentHealth;
import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@link TextFuzzE2E} for the endpoints of other systems: the same texts, and the same that may come of them. */
class TextFuzzEndpointsE2E {

    private static final ObjectMapper JSON = new ObjectMapper();

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final ComponentHealth HEALTH = ComponentHealth.now(TENANT.kubernetes());

    private static String sandbox = "";

    private final AnyText texts = new AnyText();

    @BeforeAll
    static void begin() {
        sandbox = SANDBOXES.start();
        System.out.printf("fuzz: endpoints, seed %d, %d rounds%n", AnyText.SEED, AnyText.ROUNDS);
    }

    @AfterEach
    void nothingEnded() {
        HEALTH.isUnchanged();
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    /** What an answer says: the text of a result, or the message of an error. */
    private record Said(String text, boolean failed) {

        static Said of(String body) {
            String json = body.lines()
                    .filter(line -> line.startsWith("data:"))
                    .reduce((_, last) -> last)
                    .map(line -> line.substring("data:".length()))
                    .orElse(body);
            canBeRead(json);
            try {
                JsonNode message = JSON.readTree(json);
                return message.has("error")
                        ? new Said(message.at("/error/message").asText(), true)
                        : new Said(
                                message.at("/result/content/0/text").asText(),
                                message.at("/result/isError").asBoolean());
            } catch (JsonProcessingException e) {
                throw new AssertionError(body, e);
            }
        }

        JsonNode data() throws JsonProcessingException {
            return JSON.readTree(text);
        }
    }

    private static Said said(EndpointSession session, String tool, Map<String, Object> arguments) {
        Said said = Said.of(session.call(tool, arguments));
        canBeRead(said.text());
        return said;
    }

    private static void refuses(EndpointSession session, String tool, Map<String, Object> arguments) {
        Said said = said(session, tool, arguments);
        assertThat(said.failed()).as(said.text()).isTrue();
        isOurs(said.text());
    }

    /** Python that means the text. */
    private static String meaning(String text) {
        return "json.loads(" + Attack.literal(Attack.json(text)) + ")";
    }

    /** The text itself in the source, as code that a model writes has it. */
    private static String hashing(String text) {
        return "import hashlib, json\nprint(hashlib.sha256(" + Attack.literal(text) + ".encode()).hexdigest())";
    }

    private static String naming(String text) {
        String name = text.replace("/", "_") + ".txt";
        return "import json, os\nname = " + meaning(name) + "\nopen(name, 'wb').write(name.encode())\n"
                + "print(name in os.listdir('.'), open(name, 'rb').read().decode() == name)\nos.unlink(name)";
    }

    @Test
    void cellsOfIpybox() {
        EndpointSession session = EndpointSession.begin(Installation.current(), "/mcp/ipybox");
        try {
            for (String text : texts.some(AnyText.ROUNDS, 60)) {
                assertThat(cell(session, hashing(text)).text()).isEqualTo(digest(text));
                assertThat(cell(session, naming(text)).text()).isEqualTo("True True");
                cell(session, "import json; print(" + meaning(text) + "); " + meaning(text));
                Said raised = cell(session, "import json; raise ValueError(" + meaning(text) + ")");
                assertThat(raised.failed()).isTrue();
                assertThat(raised.text()).contains("ValueError");
            }
            cell(session, "print('\\ud800', '\\udfff' * 3)");
            for (String text : texts.beyondAscii(AnyText.ROUNDS, 60)) {
                refuses(session, "install_package", Map.of("package_name", text));
                Map<String, Object> program = Map.of("command", "true");
                refuses(session, "register_mcp_server", Map.of("server_name", text, "server_params", program));
                for (String field : List.of("cwd", "placement", text)) {
                    Map<String, Object> more = Map.of("command", "true", field, text);
                    refuses(session, "register_mcp_server", Map.of("server_name", "a", "server_params", more));
                }
                refuses(session, "execute_ipython_cell", Map.of("code", "1", "timeout", text));
                refuses(session, text, Map.of());
            }
        } finally {
            session.end();
        }
    }

    private static Said cell(EndpointSession session, String code) {
        return said(session, "execute_ipython_cell", Map.of("code", code));
    }

    @Test
    void namesAndCellsOfIpython() throws Exception {
        EndpointSession session = EndpointSession.begin(Installation.current(), "/mcp/ipython");
        try {
            for (String text : texts.some(AnyText.ROUNDS, 60)) {
                assertThat(in(session, text, hashing(text)).get("stdout").asText())
                        .isEqualTo(digest(text) + "\n");
                assertThat(in(session, text, "import json; " + meaning(text) + " == " + Attack.literal(text))
                                .get("result")
                                .asText())
                        .isEqualTo("True");
                assertThat(in(session, text, naming(text)).get("stdout").asText())
                        .isEqualTo("True True\n");
                assertThat(in(session, text, "import json; raise ValueError(" + meaning(text) + ")")
                                .get("error")
                                .asText())
                        .contains("ValueError");
                assertThat(names(session)).contains(text);
                assertThat(ok(session, "shutdown", text)).isTrue();
                assertThat(ok(session, "interrupt", text)).isFalse();
                assertThat(names(session)).doesNotContain(text);
            }
            for (String text : texts.beyondAscii(AnyText.ROUNDS, 60)) {
                Map<String, Object> bound = Map.of("session", "env", "code", "1", "env", text);
                isOurs(said(session, "execute", bound).text());
                refuses(session, "execute", Map.of("session", "a", "code", "1", "timeout_s", text));
            }
        } finally {
            session.end();
        }
    }

    /** The answer is JSON, in which all that does not show is an escape. */
    private static JsonNode in(EndpointSession session, String name, String code) throws JsonProcessingException {
        Said said = said(session, "execute", Map.of("session", name, "code", code));
        isOurs(said.text());
        return said.data();
    }

    private static boolean ok(EndpointSession session, String tool, String name) throws JsonProcessingException {
        Said said = said(session, tool, Map.of("session", name));
        isOurs(said.text());
        return said.data().get("ok").asBoolean();
    }

    private static List<String> names(EndpointSession session) throws JsonProcessingException {
        Said said = said(session, "list_sessions", Map.of());
        isOurs(said.text());
        var names = new ArrayList<String>();
        said.data().forEach(entry -> names.add(entry.get("name").asText()));
        return names;
    }

    private static EndpointSession codeMode(String form) {
        return EndpointSession.begin(
                Installation.current(), "/mcp/code-mode?output=%s&sandbox=%s".formatted(form, sandbox));
    }

    @Test
    void programsOfCodeMode() {
        EndpointSession session = codeMode("compact");
        try {
            for (String text : texts.some(AnyText.ROUNDS, 60)) {
                assertThat(program(session, hashing(text)).text().strip()).isEqualTo(digest(text));
                assertThat(program(session, naming(text)).text().strip()).isEqualTo("True True");
                Said raised = program(
                        session, "import json\nprint(" + meaning(text) + ")\nraise ValueError(" + meaning(text) + ")");
                assertThat(raised.failed()).isTrue();
                assertThat(raised.text()).contains("ValueError");
                refuses(session, "run_python", Map.of("code", "1", "servers", List.of(text)));
                refuses(session, "run_python", Map.of("code", "1", "timeout", text));
            }
        } finally {
            session.end();
        }
    }

    @Test
    void formsOfCodeMode() {
        for (String form : List.of("json", "toon")) {
            EndpointSession session = codeMode(form);
            try {
                String all = Attack.json(texts.some(AnyText.ROUNDS, 60));
                Said said = program(
                        session,
                        "import json\nfor text in json.loads(" + Attack.literal(all)
                                + "): print(text)\nprint('\\ud800')");
                assertThat(said.failed()).as(said.text()).isFalse();
                isOurs(said.text());
            } finally {
                session.end();
            }
        }
    }

    private static Said program(EndpointSession session, String code) {
        return said(session, "run_python", Map.of("code", code));
    }
}
