package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rights that the operator's integration tests grant are those that the chart grants: no more, no less. */
class ChartRightsTest {

    private static final Path GOLDEN = Path.of("../helm/tests/golden");
    private static final Path DEFAULT = GOLDEN.resolve("default.yaml");
    private static final Path WITH_AUTHORITIES = GOLDEN.resolve("own-secrets.yaml");
    private static final Path TESTED = Path.of("src/test/resources/rbac");

    @ParameterizedTest
    @CsvSource({"sandglass-default, operator-role.yaml", "sandglass-system, operator-leader-role.yaml"})
    void theTestsRoleIsTheCharts(String namespace, String file) throws IOException {
        Role tested = Serialization.unmarshal(Files.readString(TESTED.resolve(file)), Role.class);

        assertThat(rulesOfTheChart(DEFAULT, namespace)).containsExactlyInAnyOrderElementsOf(tested.getRules());
    }

    @Test
    void authoritiesOfTheSiteTakeTheseMore() throws IOException {
        Role tested =
                Serialization.unmarshal(Files.readString(TESTED.resolve("operator-authorities-role.yaml")), Role.class);
        List<PolicyRule> all = new ArrayList<>(rulesOfTheChart(DEFAULT, "sandglass-default"));
        all.addAll(tested.getRules());

        assertThat(rulesOfTheChart(WITH_AUTHORITIES, "agents-a")).containsExactlyInAnyOrderElementsOf(all);
    }

    private static List<PolicyRule> rulesOfTheChart(Path rendered, String namespace) throws IOException {
        List<Role> roles = Arrays.stream(Files.readString(rendered).split("\n---\n"))
                .filter(document -> document.contains("\nkind: Role\n"))
                .map(document -> Serialization.unmarshal(document, Role.class))
                .filter(role -> role.getMetadata().getName().equals("sandglass-operator")
                        && role.getMetadata().getNamespace().equals(namespace))
                .toList();
        assertThat(roles).hasSize(1);
        return roles.getFirst().getRules();
    }
}
