package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.ChildNames;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicySpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rounds that follow each other by themselves, of a whole operator against a stand-in for the API server. */
@EnableKubernetesMockClient(crud = true)
class RoundsTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration RETENTION = Duration.ofHours(24);

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    @SuppressWarnings("NullAway.Init")
    private RunningOperator operator;

    @BeforeEach
    void start() {
        server.expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(Sandbox.class));
        operator = new RunningOperator(
                OperatorSettings.of(Map.of(
                        "OPERATOR_NAMESPACES", "tenant-a",
                        "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
                        "OPERATOR_LINK_SECRET_FILE", "unused",
                        "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system")),
                new Secrets(TestNamespace.LINK_SECRET, Optional.empty()),
                client,
                new SimpleMeterRegistry(),
                why -> {});
        operator.start();
    }

    @AfterEach
    void stop() {
        operator.close();
    }

    /** A sandbox that fell asleep at that time. */
    private Sandbox asleep(Instant since) {
        String suspendedAt = since.truncatedTo(ChronoUnit.MILLIS).toString();
        SandboxStatus status = new SandboxStatus(
                1L,
                Statuses.suspended(Reason.IDLE).conditions(),
                null,
                null,
                1,
                null,
                suspendedAt,
                null,
                null,
                null,
                null);
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", status);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return client.resource(sandbox).create();
    }

    private boolean isGone(Sandbox sandbox) {
        return client.resource(sandbox).get() == null;
    }

    @Test
    void aWriteInTheMomentOfItsDeletionDoesNotKeepASandbox() {
        server.expect()
                .delete()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/demo")
                .andReturn(
                        409,
                        new StatusBuilder().withCode(409).withReason("Conflict").build())
                .once();

        Sandbox sandbox = asleep(Instant.now().minus(RETENTION));

        await().atMost(SOON).until(() -> isGone(sandbox));
    }

    /** A sandbox with a policy of its own, whose pod runs. */
    private Sandbox running() {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);
        sandbox.setSpec(SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort("web", 8080))));
        client.resource(sandbox).create();
        Pod pod = await().atMost(SOON)
                .until(() -> client.pods().inNamespace("tenant-a").list().getItems(), found -> !found.isEmpty())
                .getFirst();
        client.resource(new PodBuilder(pod)
                        .withNewStatus()
                        .withPhase("Running")
                        .withPodIP("10.1.2.3")
                        .addNewContainerStatus()
                        .withNewState()
                        .withNewRunning()
                        .endRunning()
                        .endState()
                        .endContainerStatus()
                        .endStatus()
                        .build())
                .updateStatus();
        return told(sandbox, ConditionType.READY, "True");
    }

    private Sandbox told(Sandbox sandbox, ConditionType type, String status) {
        return await().atMost(SOON).until(() -> client.resource(sandbox).get(), found -> found.observed()
                .condition(type)
                .filter(told -> status.equals(told.getStatus()))
                .isPresent());
    }

    private Resource<NetworkPolicy> policy(Sandbox sandbox) {
        return client.network()
                .v1()
                .networkPolicies()
                .inNamespace("tenant-a")
                .withName(ChildNames.networkPolicy(sandbox));
    }

    /** Has somebody turn the sandbox's policy to other pods. */
    private void turnAway(Sandbox sandbox) {
        policy(sandbox).edit(right -> right.edit()
                .editSpec()
                .withNewPodSelector()
                .addToMatchLabels("app", "web")
                .endPodSelector()
                .endSpec()
                .build());
    }

    @Test
    void aPolicyThatSomebodyTurnedAwayIsRestored() {
        Sandbox sandbox = running();
        NetworkPolicySpec right = policy(sandbox).get().getSpec();

        turnAway(sandbox);

        await().atMost(SOON).until(() -> policy(sandbox).get().getSpec().equals(right));
        assertThat(told(sandbox, ConditionType.NETWORK_READY, "True").observed().holds(ConditionType.READY))
                .isTrue();
    }

    @Test
    void aPolicyThatCannotBeRestoredIsNotCalledReadyAndTheCauseIsToldInFewWords() {
        Sandbox sandbox = running();
        String name = ChildNames.networkPolicy(sandbox);
        Status refusal = new StatusBuilder()
                .withCode(403)
                .withReason("Forbidden")
                .withMessage("networkpolicies \"" + name + "\" is forbidden: denied request")
                .build();
        // Somebody patches; the operator replaces.
        server.expect()
                .put()
                .withPath("/apis/networking.k8s.io/v1/namespaces/tenant-a/networkpolicies/" + name)
                .andReturn(403, refusal)
                .always();
        turnAway(sandbox);

        Sandbox cutOff = told(sandbox, ConditionType.NETWORK_READY, "False");

        assertThat(cutOff.observed().holds(ConditionType.READY)).isTrue();
        assertThat(cutOff.observed().condition(ConditionType.NETWORK_READY)).hasValueSatisfying(told -> {
            assertThat(told.getReason()).isEqualTo("OperatorError");
            assertThat(told.getMessage())
                    .isEqualTo("The operator failed and tries again: networkpolicies \"" + name
                            + "\" is forbidden: denied request");
        });
    }

    /** {@code kubectl delete --cascade=orphan} lets the pod go before the watch has told of the deletion. */
    @Test
    void aPodThatIsLetGoIsNeitherReplacedNorRobbedOfItsKeys() {
        Sandbox sandbox = running();
        Sandbox leaving = client.resource(sandbox).get();
        leaving.getMetadata().setDeletionTimestamp("2026-11-24T00:00:00Z");
        leaving.getMetadata().setFinalizers(List.of("orphan"));
        server.expect()
                .get()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/demo")
                .andReturn(200, leaving)
                .always();
        List<Secret> keys = keys();

        client.pods()
                .inNamespace("tenant-a")
                .resources()
                .forEach(pod -> pod.edit(found -> found.edit()
                        .editMetadata()
                        .withOwnerReferences()
                        .endMetadata()
                        .build()));

        await().during(Duration.ofSeconds(2)).atMost(SOON).untilAsserted(() -> {
            assertThat(client.pods().inNamespace("tenant-a").list().getItems()).hasSize(1);
            assertThat(keys()).isEqualTo(keys).isNotEmpty();
        });
    }

    private List<Secret> keys() {
        return client.secrets().inNamespace("tenant-a").list().getItems();
    }
}
