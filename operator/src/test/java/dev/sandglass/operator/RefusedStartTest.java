package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.write.ChildWriter;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With which keys a pod starts after an attempt that failed, and what such an attempt leaves. */
@Tag("slow")
@EnableKubernetesMockClient(crud = true)
class RefusedStartTest {

    private static final LinkSecret OLD =
            new LinkSecret("a link secret that is to be replaced".getBytes(StandardCharsets.US_ASCII));

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    private final Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);

    private ChildWriter.PodResult start(LinkSecret secret) {
        OperatorSettings settings = OperatorSettings.of(Map.of(
                "OPERATOR_NAMESPACES", "tenant-a",
                "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system"));
        ChildWriter children = new ChildWriter(client, settings.pods(), settings.tenants(), secret, Optional.empty());
        return children.start(
                sandbox, 1, children.desired(sandbox, 1, Optional.empty(), Optional.empty(), SecretFiles.NONE));
    }

    private void answerToTheNext(String resource, int code, String reason, String message) {
        server.expect()
                .post()
                .withPath("/api/v1/namespaces/tenant-a/" + resource)
                .andReturn(
                        code,
                        new StatusBuilder()
                                .withCode(code)
                                .withReason(reason)
                                .withMessage(message)
                                .build())
                .once();
    }

    private List<Secret> keys() {
        return client.secrets().inNamespace("tenant-a").list().getItems();
    }

    /** What a start with that secret alone would have made. */
    private Map<String, String> keysOf(LinkSecret secret) {
        start(secret);
        Map<String, String> made = keys().getFirst().getData();
        client.pods().inNamespace("tenant-a").delete();
        client.secrets().inNamespace("tenant-a").delete();
        return made;
    }

    @Test
    void aPodThatIsRefusedLeavesNoKeys() {
        answerToTheNext("pods", 403, "Forbidden", "pods \"sbx-uid-demo-1\" is forbidden: exceeded quota: sandglass");

        assertThat(start(OLD).refusal())
                .hasValueSatisfying(why -> assertThat(why.reason()).isEqualTo(Reason.QUOTA_EXCEEDED));

        assertThat(keys()).isEmpty();
    }

    /** Such as one that met a quota in the moment of its change; and then the secret was replaced. */
    @Test
    void aPodNeverStartsWithTheKeysOfAnAttemptBefore() {
        Map<String, String> right = keysOf(TestNamespace.LINK_SECRET);
        answerToTheNext(
                "pods", 409, "Conflict", "Operation cannot be fulfilled on resourcequotas: please apply your changes");
        assertThatThrownBy(() -> start(OLD)).isInstanceOf(KubernetesClientException.class);
        assertThat(keys()).singleElement().satisfies(stale -> assertThat(stale.getData())
                .isNotEqualTo(right));

        // The stand-in says it without a reason.
        answerToTheNext("secrets", 409, "AlreadyExists", "secrets \"sbx-uid-demo-1\" already exists");
        assertThat(start(TestNamespace.LINK_SECRET).pod()).isPresent();

        assertThat(keys()).singleElement().satisfies(fresh -> assertThat(fresh.getData())
                .isEqualTo(right));
    }
}
