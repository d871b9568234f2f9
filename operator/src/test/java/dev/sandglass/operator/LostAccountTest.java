package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.write.ChildWriter;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the operator does when the API server refuses a pod, against a stand-in that refuses the first one. */
@EnableKubernetesMockClient
class LostAccountTest {

    private static final String CORE = "/api/v1/namespaces/tenant-a/";
    private static final String LOST = "pods \"some-1\" is forbidden: error looking up service account"
            + " tenant-a/sandglass-sandbox: serviceaccount \"sandglass-sandbox\" not found";

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    private final Sandbox sandbox = new Sandbox();

    @BeforeEach
    void prepare() {
        sandbox.getMetadata().setName("some");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        expect("secrets", 201, new SecretBuilder().build());
        expect("serviceaccounts", 201, new ServiceAccount());
    }

    private void expect(String resource, int code, Object answer) {
        server.expect().post().withPath(CORE + resource).andReturn(code, answer).once();
    }

    private static Status refusal(String message) {
        return new StatusBuilder()
                .withCode(403)
                .withReason("Forbidden")
                .withMessage(message)
                .build();
    }

    private ChildWriter.PodResult start(String named, String refusal) {
        expect("pods", 403, refusal(refusal));
        expect(
                "pods",
                201,
                new PodBuilder()
                        .withNewMetadata()
                        .withName("some-1")
                        .addNewOwnerReference()
                        .withUid(sandbox.getMetadata().getUid())
                        .endOwnerReference()
                        .endMetadata()
                        .build());
        OperatorSettings settings = OperatorSettings.of(Map.of(
                "OPERATOR_NAMESPACES", named,
                "OPERATOR_TENANTS_BY_LABEL", "true",
                "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
                "OPERATOR_IMAGE_PULL_SECRETS", "pull",
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system"));
        ChildWriter children = new ChildWriter(
                client, settings.pods(), settings.tenants(), TestNamespace.LINK_SECRET, Optional.empty());
        return children.start(
                sandbox, 1, children.desired(sandbox, 1, Optional.empty(), Optional.empty(), SecretFiles.NONE));
    }

    /** What was made, in order, but for the keys. */
    private List<RecordedRequest> made() throws InterruptedException {
        List<RecordedRequest> requests = new ArrayList<>();
        for (RecordedRequest next = taken(); next != null; next = taken()) {
            if (!next.getPath().contains("/secrets")) {
                requests.add(next);
            }
        }
        return requests;
    }

    private RecordedRequest taken() throws InterruptedException {
        return server.takeRequest(0, TimeUnit.SECONDS);
    }

    @Test
    void theAccountThatSomebodyDeletedComesBackAndThePodIsMade() throws InterruptedException {
        ChildWriter.PodResult result = start("others", LOST);

        assertThat(result.refusal()).isEmpty();
        assertThat(result.pod()).isPresent();
        List<RecordedRequest> made = made();
        assertThat(made)
                .extracting(RecordedRequest::getPath)
                .containsExactly(CORE + "pods", CORE + "serviceaccounts", CORE + "pods");
        assertThat(made.get(1).getUtf8Body())
                .contains("\"automountServiceAccountToken\":false", "\"imagePullSecrets\":[{\"name\":\"pull\"}]");
    }

    @Tag("slow")
    @Test
    void whereTheInstallationMadeItThatIsTold() throws InterruptedException {
        ChildWriter.PodResult result = start("tenant-a", LOST);

        assertThat(result.refusal())
                .contains(new PodRefusal(Reason.POD_REFUSED, "The API server refused the pod: " + LOST));
        assertThat(made()).extracting(RecordedRequest::getPath).containsExactly(CORE + "pods");
    }

    @Tag("slow")
    @Test
    void noAccountIsMadeForAnotherReason() throws InterruptedException {
        ChildWriter.PodResult result =
                start("others", "pods \"some-1\" is forbidden: exceeded quota: sandglass, requested: pods=1");

        assertThat(result.refusal().map(PodRefusal::reason)).contains(Reason.QUOTA_EXCEEDED);
        assertThat(made()).extracting(RecordedRequest::getPath).containsExactly(CORE + "pods");
    }
}
