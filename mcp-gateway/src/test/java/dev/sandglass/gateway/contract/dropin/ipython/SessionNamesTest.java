package dev.sandglass.gateway.contract.dropin.ipython;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.execution.Session;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P2, P8: any text is a session's name, and comes back. */
class SessionNamesTest {

    private static final String GRAMMAR = "[A-Za-z0-9][A-Za-z0-9_-]{0,62}";

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "my session", "", " ", "é", "u-", "u-YQ", "-x", "_x", "data/1", "x'y", "系统", "🙂", "a\nb"})
    void everyNameComesBack(String text) {
        Session.Name name = SessionNames.of(text);
        assertThat(name.session()).matches(GRAMMAR);
        assertThat(SessionNames.text(name)).isEqualTo(text);
    }

    @Test
    void noTwoTextsAreOneName() {
        var random = new Random(7);
        Map<String, String> names = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(8)];
            random.nextBytes(bytes);
            String text = (random.nextBoolean() ? "u-" : "") + new String(bytes, StandardCharsets.UTF_8);
            if (text.getBytes(StandardCharsets.UTF_8).length <= SessionNames.MOST_BYTES) {
                String before = names.put(SessionNames.of(text).session(), text);
                assertThat(before == null || before.equals(text)).as(text).isTrue();
            }
        }
    }

    @Test
    void theLongestAreTakenAndNoLongerOnes() {
        assertThat(SessionNames.of("x".repeat(63)).session()).isEqualTo("x".repeat(63));
        assertThat(SessionNames.of("é" + "x".repeat(43)).session())
                .matches(GRAMMAR)
                .hasSize(62);
        assertThatThrownBy(() -> SessionNames.of("x".repeat(64)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("'session' must have at most 63 characters");
        assertThatThrownBy(() -> SessionNames.of("é" + "x".repeat(44))).isInstanceOf(InvalidArgument.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"u-!", "u-_w", "u-a"})
    void aNameThatNoneBecomesStaysAsItIs(String odd) {
        assertThat(SessionNames.text(new Session.Name("python", odd))).isEqualTo(odd);
    }
}
