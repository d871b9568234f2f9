package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicySpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rounds that follow each other by themselves, of a whole operator against a stand-in for the API server. */
class RoundsTest {

    private static final Duration SOON = MockedRounds.SOON;
    private static final Duration RETENTION = Duration.ofHours(24);

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void start() {
        rounds = MockedRounds.start(api);
    }

    @AfterEach
    void stop() {
        rounds.close();
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

    @Tag("slow")
    @Test
    void aWriteInTheMomentOfItsDeletionDoesNotKeepASandbox() {
        api.server()
                .expect()
                .delete()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/demo")
                .andReturn(
                        409,
                        new StatusBuilder().withCode(409).withReason("Conflict").build())
                .once();

        Sandbox sandbox = asleep(Instant.now().minus(RETENTION));

        await().atMost(SOON).until(() -> isGone(sandbox));
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
        MockedRounds.edit(policy(sandbox), right -> right.edit()
                .editSpec()
                .withNewPodSelector()
                .addToMatchLabels("app", "web")
                .endPodSelector()
                .endSpec()
                .build());
    }

    @Test
    void aPolicyThatSomebodyTurnedAwayIsRestored() {
        Sandbox sandbox = rounds.running();
        NetworkPolicySpec right = policy(sandbox).get().getSpec();

        turnAway(sandbox);

        await().atMost(SOON).until(() -> policy(sandbox).get().getSpec().equals(right));
        assertThat(rounds.told(sandbox, ConditionType.NETWORK_READY, "True")
                        .observed()
                        .holds(ConditionType.READY))
                .isTrue();
    }

    @Test
    void aPolicyThatCannotBeRestoredIsNotCalledReadyAndTheCauseIsToldInFewWords() {
        Sandbox sandbox = rounds.running();
        String name = ChildNames.networkPolicy(sandbox);
        Status refusal = new StatusBuilder()
                .withCode(403)
                .withReason("Forbidden")
                .withMessage("networkpolicies \"" + name + "\" is forbidden: denied request")
                .build();
        // Somebody patches; the operator replaces.
        api.server()
                .expect()
                .put()
                .withPath("/apis/networking.k8s.io/v1/namespaces/tenant-a/networkpolicies/" + name)
                .andReturn(403, refusal)
                .always();
        turnAway(sandbox);

        Sandbox cutOff = rounds.told(sandbox, ConditionType.NETWORK_READY, "False");

        assertThat(cutOff.observed().holds(ConditionType.READY)).isTrue();
        assertThat(cutOff.observed().condition(ConditionType.NETWORK_READY)).hasValueSatisfying(told -> {
            assertThat(told.getReason()).isEqualTo("OperatorError");
            assertThat(told.getMessage())
                    .isEqualTo("The operator failed and tries again: networkpolicies \"" + name
                            + "\" is forbidden: denied request");
        });
    }

    /** It may keep the sandbox for ever, and then no deadline would end the pod. */
    @Test
    void aPodEndsWithASandboxThatAFinalizerKeeps() {
        Sandbox sandbox = rounds.running();
        MockedRounds.edit(client.resource(sandbox), found -> {
            found.addFinalizer("example.com/hold");
            return found;
        });

        client.resource(sandbox).delete();

        Sandbox kept = rounds.told(sandbox, ConditionType.SUSPENDED, "True");
        assertThat(kept.isMarkedForDeletion()).isTrue();
        assertThat(kept.observed().condition(ConditionType.READY).orElseThrow().getMessage())
                .isEqualTo("The sandbox is being deleted, so its pod ended; finalizers keep the resource:"
                        + " example.com/hold");
        awaitNeitherPodNorKeys();

        MockedRounds.edit(client.resource(kept), found -> {
            found.removeFinalizer("example.com/hold");
            return found;
        });
        await().atMost(SOON).until(() -> isGone(sandbox));
    }

    /** {@code kubectl delete --cascade=orphan} lets the pod go before the watch has told of the deletion. */
    @Tag("slow")
    @Test
    void aPodThatIsLetGoIsNotReplacedAndEndsWithItsSandbox() {
        Sandbox sandbox = rounds.running();
        MockedRounds.edit(client.resource(sandbox), found -> {
            found.getMetadata().setFinalizers(List.of("orphan"));
            return found;
        });
        Sandbox leaving = client.resource(sandbox).get();
        leaving.getMetadata().setDeletionTimestamp("2026-11-24T00:00:00Z");
        leaving.getMetadata().setFinalizers(List.of("orphan"));
        api.server()
                .expect()
                .get()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/demo")
                .andReturn(200, leaving)
                .always();
        List<Secret> keys = keys();

        client.pods()
                .inNamespace("tenant-a")
                .resources()
                .forEach(pod -> MockedRounds.edit(pod, found -> found.edit()
                        .editMetadata()
                        .withOwnerReferences()
                        .endMetadata()
                        .build()));

        await().during(Duration.ofSeconds(2)).atMost(SOON).untilAsserted(() -> {
            assertThat(client.pods().inNamespace("tenant-a").list().getItems()).hasSize(1);
            assertThat(keys()).isEqualTo(keys).isNotEmpty();
        });

        client.resource(sandbox).delete();

        awaitNeitherPodNorKeys();
    }

    private void awaitNeitherPodNorKeys() {
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(client.pods().inNamespace("tenant-a").list().getItems()).isEmpty();
            assertThat(keys()).isEmpty();
        });
    }

    /** Nobody misses the keys before the container starts again, and then it cannot. */
    @Test
    void keysThatSomebodyDeletedComeBackWhenTheContainerNeedsThem() {
        rounds.running();
        Secret before = keys().getFirst();
        client.resource(before).delete();

        client.pods()
                .inNamespace("tenant-a")
                .resources()
                .forEach(pod -> MockedRounds.editStatus(pod, found -> found.edit()
                        .editStatus()
                        .editFirstContainerStatus()
                        .withRestartCount(1)
                        .withNewState()
                        .withNewWaiting()
                        .withReason("CreateContainerConfigError")
                        .withMessage("secret \"" + before.getMetadata().getName() + "\" not found")
                        .endWaiting()
                        .endState()
                        .endContainerStatus()
                        .endStatus()
                        .build()));

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(keys()).singleElement().satisfies(made -> assertThat(made.getData())
                        .isEqualTo(before.getData())));
    }

    private List<Secret> keys() {
        return client.secrets().inNamespace("tenant-a").list().getItems();
    }
}
