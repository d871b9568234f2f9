package dev.sandglass.gateway.contract.dropin.ipython;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.testing.AnyText;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.JsonNodeFactory;

/** P2, P8: any text is a session's name, and comes back. */
class SessionNamesTest {

    private static final String GRAMMAR = "[A-Za-z0-9][A-Za-z0-9_-]{0,62}";

    private static Session session(Session.Name name, @Nullable String label) {
        return new Session(name, "idle", 1, 1.0, null, label, true);
    }

    private static String read(String text) {
        return SessionNames.read(
                Arguments.of(JsonNodeFactory.instance.objectNode().put("session", text)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "my session", " ", "é", "u-", "u-YQ", "-x", "_x", "data/1", "x'y", "系统", "🙂", "a\nb"})
    void aShortNameNeedsNoLabel(String text) {
        Session.Name name = SessionNames.of(text);
        assertThat(name.session()).matches(GRAMMAR);
        assertThat(SessionNames.label(text)).isNull();
        assertThat(SessionNames.text(session(name, null))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"x, 64", "é, 23", "系, 16", "🙂, 12", "a b/, 333", "x, 1000", "🙂, 500"})
    void aLongNameComesBackByItsLabel(String part, int times) {
        String text = part.repeat(times);
        Session.Name name = SessionNames.of(text);
        assertThat(name.session()).matches(GRAMMAR).hasSize(63);
        assertThat(SessionNames.label(text)).isEqualTo(text);
        assertThat(SessionNames.text(session(name, text))).isEqualTo(text);
        // Of a supervisor that keeps none, or of one that lies.
        assertThat(SessionNames.text(session(name, null))).isEqualTo(name.session());
        assertThat(SessionNames.text(session(name, "another"))).isEqualTo(name.session());
    }

    @Test
    void aLongNameBeginsReadably() {
        assertThat(SessionNames.of("Analysis of the data of 2026, second attempt, with more columns")
                        .session())
                .startsWith("u-Analysis-of-the-d-");
    }

    @Test
    void noTwoTextsAreOneName() {
        var random = new Random(7);
        Map<String, String> names = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(8)];
            random.nextBytes(bytes);
            String text = (random.nextBoolean() ? "u-" : "") + new String(bytes, StandardCharsets.UTF_8);
            String before = names.put(SessionNames.of(text).session(), text);
            assertThat(before == null || before.equals(text)).as(text).isTrue();
        }
        String near = "x".repeat(100);
        assertThat(SessionNames.of(near + "1")).isNotEqualTo(SessionNames.of(near + "2"));
    }

    /** What has the name of another is another's. */
    @Test
    void theNameOfALongTextIsNotItsOwnName() {
        String long1 = SessionNames.of("x".repeat(100)).session();
        assertThat(SessionNames.of(long1).session()).isNotEqualTo(long1);
    }

    @Test
    void anyTextBecomesAName() {
        AnyText any = AnyText.of(List.of(new byte[] {11}));
        for (int i = 0; i < 2_000; i++) {
            String next = any.whole();
            String text =
                    next.substring(0, next.offsetByCodePoints(0, Math.min(500, next.codePointCount(0, next.length()))));
            Session.Name name = SessionNames.of(text);
            assertThat(name.session()).matches(GRAMMAR);
            assertThat(SessionNames.text(session(name, SessionNames.label(text))))
                    .isEqualTo(text);
        }
    }

    @Test
    void theBounds() {
        assertThat(SessionNames.of("x".repeat(63)).session()).isEqualTo("x".repeat(63));
        assertThat(read("x".repeat(1000))).hasSize(1000);
        assertThat(read(" ")).isEqualTo(" ");
        assertThatThrownBy(() -> read("x".repeat(1001)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("'session' must have at most 1000 characters, has 1001");
        assertThatThrownBy(() -> read(""))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("'session' must not be empty: any other text of up to 1000 characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"u-!", "u-_w", "u-a", "u-YR"})
    void aNameThatNoneBecomesStaysAsItIs(String odd) {
        assertThat(SessionNames.text(session(new Session.Name("python", odd), null)))
                .isEqualTo(odd);
    }
}
