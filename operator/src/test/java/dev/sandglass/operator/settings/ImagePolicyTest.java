package dev.sandglass.operator.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ImagePolicyTest {

    private static ImagePolicy allowing(String... patterns) {
        return new ImagePolicy("registry.example.com/kernel:1", Arrays.asList(patterns));
    }

    @Test
    void theDefaultIsAlwaysAllowedAndAliasesMeanIt() {
        ImagePolicy policy = allowing();
        assertThat(policy.allows(policy.defaultImage())).isTrue();
        assertThat(policy.allows("registry.example.com/kernel:2")).isFalse();
        assertThat(policy.resolve(null)).isEqualTo(policy.defaultImage());
        assertThat(policy.resolve("microsandbox/python")).isEqualTo(policy.defaultImage());
        assertThat(policy.resolve("microsandbox/node")).isEqualTo(policy.defaultImage());
        assertThat(policy.resolve("python:3")).isEqualTo("python:3");
    }

    @ParameterizedTest
    @CsvSource({
        "registry.example.com/team/*, registry.example.com/team/python:3.14, true",
        "registry.example.com/team/*, registry.example.com/team/sub/python:3.14, false",
        "registry.example.com/**, registry.example.com/team/sub/python@sha256:00, true",
        "registry.example.com/team/*, evil.example.com/registry.example.com/team/x, false",
        "*.example.com/x, evil.example.org/a.example.com/x, false",
        "registry.example.com/x:1.*, registry.example.com/x:1.2, true",
        "registry.example.com/x:1.*, registry.example.com/x:1x2, false",
        "registry.example.com/x, registry.example.com/x:1, false",
        "registryXexample.com/x, registry.example.com/x, false",
        "registry.example.com/x, registryXexample.com/x, false",
        "**, anything/at:all, true",
    })
    void patternsMatchWholeNames(String pattern, String image, boolean allowed) {
        assertThat(allowing(pattern).allows(image)).isEqualTo(allowed);
    }
}
