package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What a supervisor says of a session, which may be taken over. */
class SessionTest {

    private static ObjectNode told(int word, int env, int label) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("language", "l".repeat(word))
                .put("session", "s".repeat(word))
                .put("state", "i".repeat(word))
                .put("python_env", "e".repeat(env))
                .put("label", "n".repeat(label));
    }

    @Test
    void theLongestTextsAreKept() {
        Session session = Session.parse(told(63, 4096, 1000));

        assertThat(session.name()).isEqualTo(new Session.Name("l".repeat(63), "s".repeat(63)));
        assertThat(session.state()).hasSize(63);
        assertThat(session.pythonEnv()).hasSize(4096);
        assertThat(session.label()).hasSize(1000);
    }

    @Test
    void longerOnesCountAsAbsent() {
        Session session = Session.parse(told(64, 4097, 1001));

        assertThat(session.name()).isEqualTo(new Session.Name("", ""));
        assertThat(session.state()).isEmpty();
        assertThat(session.pythonEnv()).isNull();
        assertThat(session.label()).isNull();
    }
}
