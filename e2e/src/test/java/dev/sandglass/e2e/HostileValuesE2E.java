package dev.sandglass.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Values that a decoder on the way could stumble over, as an agent sees what becomes of them. */
class HostileValuesE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Agent agent = SANDBOXES.agent();

    @Test
    void aHugeExecutionCountDoesNotCostTheAnswer() {
        String sandbox = SANDBOXES.start();

        assertThat(agent.python(sandbox, "get_ipython().execution_count = 10 ** 2000")
                        .status())
                .isEqualTo("ok");
        Answer after = agent.python(sandbox, "1 + 1");

        assertThat(after.status()).isEqualTo("ok");
        assertThat(after.result()).isEqualTo("2");
    }

    @Test
    void halfACharacterInAnExceptionReachesNoClient() {
        String sandbox = SANDBOXES.start();

        Answer answer = agent.python(sandbox, "raise ValueError('a\\ud800b')");

        assertThat(answer.status()).isEqualTo("error");
        assertThat(answer.object("error").get("name")).isEqualTo("ValueError");
        assertThat(StandardCharsets.UTF_8
                        .newEncoder()
                        .canEncode(answer.text() + answer.object("error").get("message")))
                .isTrue();
    }
}
