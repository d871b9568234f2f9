package dev.sandglass.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvRules;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import io.fabric8.kubernetes.api.model.EnvVar;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProxyVariablesTest {

    private static final PodSettings SETTINGS = new PodSettings(
            new ImagePolicy("registry.example.com/kernel:1", List.of()),
            Duration.ofHours(8),
            new NamespaceAccount("sandglass-sandbox", List.of()),
            RuntimeClassPolicy.DEFAULT_ONLY,
            SandboxUsers.DEFAULT,
            Scheduling.anywhere(RequestRatios.of("1")));

    @Test
    void everyVariableOfTheProxyIsReserved() {
        List<EnvVar> variables = new ArrayList<>(ProxyVariables.of("any"));
        variables.addAll(JavaOptions.of(SETTINGS, Optional.of("10.96.0.9")));

        assertThat(variables).hasSizeGreaterThan(10).allSatisfy(variable -> assertThat(
                        EnvRules.problem(Map.of(variable.getName(), "x")))
                .as(variable.getName())
                .isPresent());
    }
}
