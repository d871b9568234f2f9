package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rights that the operator's integration tests grant are those that the chart grants: no more, no less. */
class ChartRightsTest {

    private static final Path GOLDEN = Path.of("../helm/tests/golden");
    private static final Path DEFAULT = GOLDEN.resolve("default.yaml");
    private static final Path WITH_AUTHORITIES = GOLDEN.resolve("own-secrets.yaml");
    private static final Path BY_LABEL = GOLDEN.resolve("everything.yaml");
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

    /** That render has authorities of the site too. */
    @Test
    void tenantsByLabelTakeTheSameInTheWholeClusterAndTheseMore() throws IOException {
        List<PolicyRule> all = new ArrayList<>();
        for (String file :
                List.of("operator-role.yaml", "operator-authorities-role.yaml", "operator-by-label-role.yaml")) {
            all.addAll(Serialization.unmarshal(Files.readString(TESTED.resolve(file)), Role.class)
                    .getRules());
        }
        List<ClusterRole> roles = rendered(BY_LABEL, ClusterRole.class)
                .filter(role -> role.getMetadata().getName().endsWith("-operator"))
                .toList();

        assertThat(roles).singleElement().satisfies(role -> assertThat(role.getRules())
                .containsExactlyInAnyOrderElementsOf(all));
        assertThat(rendered(BY_LABEL, Role.class)
                        .filter(role -> role.getMetadata().getName().endsWith("-operator"))
                        .map(role -> role.getMetadata().getNamespace()))
                .as("no role in a tenant's namespace besides")
                .containsExactly("sandglass-system");
    }

    @Test
    void nothingElseIsBoundInTheWholeClusterAndNothingAtAllUnlessTenantsComeByLabel() throws IOException {
        assertThat(boundInTheCluster(DEFAULT)).isEmpty();
        assertThat(boundInTheCluster(WITH_AUTHORITIES)).isEmpty();
        assertThat(boundInTheCluster(BY_LABEL)).containsExactly("sandglass-system-sg-operator");
    }

    /** The roles that the operator's account has by ClusterRoleBindings. */
    private static List<String> boundInTheCluster(Path chart) throws IOException {
        return rendered(chart, ClusterRoleBinding.class)
                .filter(binding -> binding.getSubjects().stream()
                        .anyMatch(subject -> subject.getName().endsWith("-operator")))
                .map(binding -> binding.getRoleRef().getName())
                .toList();
    }

    /** Another release's is another: that render is of one with another name. */
    @Test
    void theLeaseThatItMayTakeIsTheOneThatItIsToldAndItsReleases() throws IOException {
        List<PolicyRule> rules = rendered(BY_LABEL, Role.class)
                .filter(role -> role.getMetadata().getName().equals("sg-operator"))
                .flatMap(role -> role.getRules().stream())
                .filter(rule -> rule.getResources().contains("leases")
                        && !rule.getVerbs().contains("create"))
                .toList();
        List<String> told = rendered(BY_LABEL, Deployment.class)
                .filter(deployment -> deployment.getMetadata().getName().equals("sg-operator"))
                .flatMap(deployment ->
                        deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getEnv().stream())
                .filter(variable -> variable.getName().equals("OPERATOR_LEASE"))
                .map(EnvVar::getValue)
                .toList();

        assertThat(told).containsExactly("sg-operator");
        assertThat(rules).singleElement().satisfies(rule -> assertThat(rule.getResourceNames())
                .isEqualTo(told));
    }

    private static List<PolicyRule> rulesOfTheChart(Path chart, String namespace) throws IOException {
        List<Role> roles = rendered(chart, Role.class)
                .filter(role -> role.getMetadata().getName().equals("sandglass-operator")
                        && role.getMetadata().getNamespace().equals(namespace))
                .toList();
        assertThat(roles).hasSize(1);
        return roles.getFirst().getRules();
    }

    private static <T extends HasMetadata> Stream<T> rendered(Path chart, Class<T> kind) throws IOException {
        return Arrays.stream(Files.readString(chart).split("\n---\n"))
                .filter(document -> document.contains("\nkind: " + kind.getSimpleName() + "\n"))
                .map(document -> Serialization.unmarshal(document, kind));
    }
}
