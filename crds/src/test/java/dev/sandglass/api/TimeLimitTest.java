package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeLimitTest {

    @ParameterizedTest
    @CsvSource({
        "30m, PT30M",
        "8h, PT8H",
        "1h30m, PT1H30M",
        "90s, PT90S",
        "1h1m1s, PT1H1M1S",
        "0s, PT0S",
        "999999h, PT999999H"
    })
    void durationsAreReadAsKubernetesUsersWriteThem(String text, Duration duration) {
        assertThat(Durations.parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "30", "soon", "-1h", "1.5h", "1m1h", "1h1h", "1d", "100ms", " 1h", "1h\n", "1000000h", "١h"})
    void whatIsNoDurationIsNotTakenForOne(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("'" + text + "' is not a duration like 30m, 8h or 1h30m");
    }

    @Test
    void onlyTheBeginningOfALongTextIsRepeated() {
        assertThatThrownBy(() -> Durations.parse("x".repeat(1000))).hasMessageStartingWith("'" + "x".repeat(24) + "…'");
    }

    @Test
    void theBoundsAreAllowedAndASecondBeyondIsNot() {
        for (TimeLimit limit : TimeLimit.values()) {
            assertThat(limit.problem("10s")).isEmpty();
            assertThat(limit.problem("9s")).isPresent();
            assertThat(limit.problem(limit.most())).isEmpty();
            assertThat(limit.problem(limit.most() + "1s")).isPresent();
        }
    }

    @Test
    void eachReadsItsOwnField() {
        SandboxSpec spec = SandboxSpec.DEFAULT
                .withIdleTimeout("10m")
                .withMaxLifetime("20m")
                .withRetention("30m");
        assertThat(TimeLimit.IDLE_TIMEOUT.in(spec)).contains(Duration.ofMinutes(10));
        assertThat(TimeLimit.MAX_LIFETIME.in(spec)).contains(Duration.ofMinutes(20));
        assertThat(TimeLimit.RETENTION.in(spec)).contains(Duration.ofMinutes(30));
        assertThat(TimeLimit.IDLE_TIMEOUT.in(SandboxSpec.DEFAULT)).isEmpty();
        assertThat(TimeLimit.IDLE_TIMEOUT.in(spec.withIdleTimeout("1s"))).isEmpty();
    }
}
