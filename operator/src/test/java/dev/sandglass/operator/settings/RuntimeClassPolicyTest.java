package dev.sandglass.operator.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuntimeClassPolicyTest {

    private static RuntimeClassPolicy allowing(String... patterns) {
        return new RuntimeClassPolicy(Optional.empty(), List.of(patterns));
    }

    @Test
    void whoAsksForNoneGetsTheInstallationsOrTheClusters() {
        RuntimeClassPolicy forcing = new RuntimeClassPolicy(Optional.of("gvisor"), List.of());
        for (RuntimeClassPolicy policy : List.of(RuntimeClassPolicy.DEFAULT_ONLY, allowing("kata"), forcing)) {
            assertThat(policy.problem(null)).isEmpty();
        }
        assertThat(allowing("kata").resolve(null)).isNull();
        assertThat(forcing.resolve(null)).isEqualTo("gvisor");
    }

    @ParameterizedTest
    @ValueSource(strings = {"runc", "gvisor", "*", ""})
    void noneMayBeAskedForUnlessTheInstallationSaysSo(String wanted) {
        assertThat(RuntimeClassPolicy.DEFAULT_ONLY.problem(wanted).orElseThrow())
                .isEqualTo(wanted + " is not on this installation's list of allowed RuntimeClasses"
                        + " (sandbox.allowedRuntimeClasses of the chart);"
                        + " leave the field out to use the cluster's default");
    }

    @ParameterizedTest
    @CsvSource({
        "gvisor, gvisor, true",
        "gvisor, gvisor2, false",
        "gvisor, a-gvisor, false",
        "gvisor, runc, false",
        "kata-*, kata-qemu.v3, true",
        "kata-*, kata, false",
        "kata.v1, kata-v1, false",
        "*, runc, true"
    })
    void patternsMatchWholeNames(String pattern, String wanted, boolean allowed) {
        RuntimeClassPolicy policy = allowing("other", pattern);

        assertThat(policy.problem(wanted).isEmpty()).isEqualTo(allowed);
        assertThat(policy.resolve(wanted)).isEqualTo(wanted);
    }

    @Test
    void whatIsForcedIsForAllWhateverTheListSays() {
        RuntimeClassPolicy policy = new RuntimeClassPolicy(Optional.of("gvisor"), List.of("*"));

        assertThat(policy.problem("gvisor")).isEmpty();
        assertThat(policy.problem("runc").orElseThrow()).contains("runs every sandbox with gvisor");
        assertThat(policy.resolve("runc")).isEqualTo("gvisor");
    }
}
