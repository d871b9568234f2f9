package dev.sandglass.operator.policy;

import static dev.sandglass.operator.policy.ChartPolicies.granted;
import static dev.sandglass.operator.policy.ChartPolicies.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Which pods may mount the Secrets of tool servers, by the chart's policies as rendered before a real API server, and what
 * the operator's account may ask about these Secrets. It has an administrator's rights here: each attack succeeds without
 * the policies.
 */
class SecretPolicyIT {

    private static final Path POD = Path.of("src/test/resources/golden/tool-server-secrets/out-Pod.yaml");
    private static final String SHAPE = "may only mount Secrets whose names begin with mountable-";
    private static final String LABELS = "only the Sandglass operator may set a sandbox's labels on pods";
    private static final String SECRETS = "may write only Secrets of links";

    private TestNamespace namespace;
    private ChartPolicies policies;
    private KubernetesClient operator;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        policies = new ChartPolicies(namespace, "pod-shape", "pod-labels", "operator");
        operator = policies.operator();
    }

    @AfterEach
    void cleanUp() {
        policies.close();
        operator.close();
        namespace.close();
    }

    private void install() {
        policies.install();
        await("the policies").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            refused(() -> tried(operator, mounting("database")), SHAPE);
            refused(() -> tried(namespace.admin, ofServer()), LABELS);
            refused(() -> asked("database", true), SECRETS);
        });
    }

    /** As the operator makes it for a tool server, but for its owner, which is not in this cluster. */
    private Pod ofServer() {
        try {
            return new PodBuilder(Serialization.unmarshal(Files.readString(POD), Pod.class))
                    .editMetadata()
                    .withNamespace(namespace.name)
                    .withOwnerReferences()
                    .endMetadata()
                    .build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same pod with that Secret in place of its first. */
    private Pod mounting(String secret) {
        Pod pod = ofServer();
        pod.getSpec().getVolumes().stream()
                .filter(volume -> volume.getSecret() != null)
                .findFirst()
                .orElseThrow()
                .getSecret()
                .setSecretName(secret);
        return pod;
    }

    /** The same pod for an ordinary sandbox. */
    private Pod unlabelled() {
        return ofServer()
                .edit()
                .editMetadata()
                .removeFromLabels(SandboxLabels.TOOL_SERVER)
                .endMetadata()
                .build();
    }

    private static Pod tried(KubernetesClient client, Pod pod) {
        return client.resource(pod).dryRun(true).create();
    }

    private Secret asked(String name, boolean dryRun) {
        return operator.resource(new SecretBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .build())
                .dryRun(dryRun)
                .create();
    }

    @Test
    void onlyThePodOfAToolServerMountsSecretsOfToolServers() {
        granted(() -> tried(operator, unlabelled()));
        granted(() -> tried(operator, mounting("database")));
        granted(() -> tried(operator, mounting("sbx-7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80-1")));
        granted(() -> tried(namespace.admin, ofServer()));

        install();

        refused(() -> tried(operator, unlabelled()), SHAPE);
        refused(() -> tried(operator, mounting("database")), SHAPE);
        refused(() -> tried(operator, mounting("sbx-7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80-1")), SHAPE);
        // By an account that may make pods and is not the operator's.
        refused(() -> tried(namespace.admin, ofServer()), LABELS);
        granted(() -> tried(operator, ofServer()));
        granted(() -> tried(operator, mounting("mountable-database")));
    }

    @Test
    void onlyTheOperatorGivesAPodTheLabelOfAToolServer() {
        namespace.admin.resource(plain()).create();
        granted(() -> labelled(SandboxLabels.TOOL_SERVER));

        install();

        refused(() -> labelled(SandboxLabels.TOOL_SERVER), LABELS);
        granted(() -> labelled("example.com/team"));
    }

    /** No sandbox's, and no scheduler takes it: it is there to be edited. */
    private Pod plain() {
        return new PodBuilder()
                .withNewMetadata()
                .withName("mine")
                .withNamespace(namespace.name)
                .endMetadata()
                .withSpec(ofServer().getSpec())
                .editSpec()
                .withSchedulerName("none")
                .withVolumes()
                .editFirstContainer()
                .withVolumeMounts()
                .endContainer()
                .endSpec()
                .build();
    }

    private Pod labelled(String label) {
        Pod found = namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName("mine")
                .require();
        Pod changed = new PodBuilder(found)
                .editMetadata()
                .addToLabels(label, "time")
                .endMetadata()
                .build();
        return namespace.admin.resource(changed).dryRun(true).update();
    }

    @Test
    void theOperatorAsksWhetherASecretIsThereAndMakesNone() {
        granted(() -> asked("sandglass-mcp-github", true));
        granted(() -> asked("database", true));

        install();

        granted(() -> asked("sandglass-mcp-github", true));
        refused(() -> asked("sandglass-mcp-github", false), SECRETS);
        refused(() -> asked("sandglass-mcp", true), SECRETS);
        refused(() -> asked("database", true), SECRETS);
        assertThat(namespace
                        .admin
                        .secrets()
                        .inNamespace(namespace.name)
                        .withName("sandglass-mcp-github")
                        .get())
                .isNull();
        namespace
                .admin
                .resource(new SecretBuilder()
                        .withNewMetadata()
                        .withName("sandglass-mcp-github")
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .build())
                .create();
        refused(() -> asked("sandglass-mcp-github", true), "already exists");
        refused(
                () -> operator.secrets()
                        .inNamespace(namespace.name)
                        .withName("sandglass-mcp-github")
                        .dryRun(true)
                        .delete(),
                SECRETS);
    }
}
