package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.write.ChildWriter;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Pods of a namespace whose account for sandboxes somebody deleted. Without an operator: one that takes tenants by label
 * would take those of the whole cluster.
 */
class LostAccountIT {

    private TestNamespace namespace;
    private Sandbox sandbox;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        namespace.loseAccount();
        sandbox = namespace.create("lost", SandboxSpec.DEFAULT);
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    private Optional<ServiceAccount> account() {
        return Optional.ofNullable(namespace
                .admin
                .serviceAccounts()
                .inNamespace(namespace.name)
                .withName("sandglass-sandbox")
                .get());
    }

    private ChildWriter.PodResult start(String named) {
        OperatorSettings settings = OperatorSettings.of(Map.of(
                "OPERATOR_NAMESPACES", named,
                "OPERATOR_TENANTS_BY_LABEL", "true",
                "OPERATOR_DEFAULT_IMAGE", "localhost/pause:cluster",
                "OPERATOR_IMAGE_PULL_SECRETS", "pull",
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_CPU_REQUEST_RATIO", "0.01",
                "OPERATOR_MEMORY_REQUEST_RATIO", "0.01",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system"));
        ChildWriter children = new ChildWriter(
                namespace.admin, settings.pods(), settings.tenants(), TestNamespace.LINK_SECRET, Optional.empty());
        return children.start(
                sandbox, 1, children.desired(sandbox, 1, Optional.empty(), Optional.empty(), SecretFiles.NONE));
    }

    @Test
    void whereTheLabelAloneMakesTheTenantItComesBack() {
        assertThat(start("others").pod()).hasValueSatisfying(pod -> {
            assertThat(pod.getSpec().getServiceAccountName()).isEqualTo("sandglass-sandbox");
            assertThat(pod.getSpec().getImagePullSecrets())
                    .as("what admission takes from the account")
                    .hasSize(1)
                    .allSatisfy(secret -> assertThat(secret.getName()).isEqualTo("pull"));
        });
        assertThat(account()).hasValueSatisfying(made -> assertThat(made.getAutomountServiceAccountToken())
                .isFalse());
    }

    @Test
    void whereTheInstallationMadeItThatIsTold() {
        assertThat(start(namespace.name).refusal()).hasValueSatisfying((PodRefusal refusal) -> {
            assertThat(refusal.reason()).isEqualTo(Reason.POD_REFUSED);
            assertThat(refusal.message()).contains("serviceaccount \"sandglass-sandbox\" not found");
        });
        assertThat(account()).isEmpty();
    }
}
