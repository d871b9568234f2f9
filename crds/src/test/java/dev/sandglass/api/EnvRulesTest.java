package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvRulesTest {

    @Test
    void ordinaryVariablesAreAllowed() {
        assertThat(EnvRules.problem(Map.of("A", "", "_b1", "x=y\n", "PYTHONPATH", "/workspace/lib")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1A", "A-B", "A=B", "A B", "ä", "A\n"})
    void namesThatNoShellCanUseAreRefused(String name) {
        assertThat(EnvRules.problem(Map.of(name, "x")).orElseThrow()).contains("not a name");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http_proxy",
                "No_Proxy",
                "SANDGLASS_ENV",
                "LD_PRELOAD",
                "npm_config_https_proxy",
                "PYTHONSTARTUP"
            })
    void reservedNamesAreRefusedInEveryCase(String name) {
        assertThat(EnvRules.problem(Map.of(name, "x"))).contains("environment variable " + name + " is reserved");
    }

    @Test
    void countAndSizeAreBounded() {
        Map<String, String> many = IntStream.range(0, 257)
                .mapToObj(i -> "V" + i)
                .collect(Collectors.toMap(Function.identity(), name -> ""));
        assertThat(EnvRules.problem(many).orElseThrow()).contains("at most 256");
        assertThat(EnvRules.problem(Map.of("A", "ä".repeat(16 * 1024))).orElseThrow())
                .contains("32768 bytes");
        assertThat(EnvRules.problem(Map.of("A", "x".repeat(32 * 1024 - 1)))).isEmpty();
    }

    @Test
    void valuesAreNeverRepeated() {
        assertThat(EnvRules.problem(Map.of("A", "s3cret\0")).orElseThrow())
                .contains("NUL")
                .doesNotContain("s3cret");
        assertThat(new EnvVariable("A", "s3cret").toString()).doesNotContain("s3cret");
    }
}
