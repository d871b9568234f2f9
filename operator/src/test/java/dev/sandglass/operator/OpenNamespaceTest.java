package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of sandboxes whose namespace is not cut off, by a policy that the operator may not touch. */
class OpenNamespaceTest {

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

    private Resource<NetworkPolicy> namespacePolicy() {
        return client.network().v1().networkPolicies().inNamespace("tenant-a").withName(ChildNames.NAMESPACE_POLICY);
    }

    /** A policy that the chart made, and that somebody turned to other pods since. */
    private static NetworkPolicy ofTheChartAndTurnedAway() {
        return NamespacePolicy.desired("tenant-a")
                .edit()
                .editMetadata()
                .addToLabels("app.kubernetes.io/managed-by", "Helm")
                .endMetadata()
                .editSpec()
                .withNewPodSelector()
                .addToMatchLabels("app", "web")
                .endPodSelector()
                .endSpec()
                .build();
    }

    @Tag("slow")
    @Test
    void noPodIsMadeWhereNobodyIsCutOffBeforeThatIsMended() {
        client.resource(ofTheChartAndTurnedAway()).create();
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        client.resource(sandbox).create();

        Sandbox open = rounds.told(sandbox, ConditionType.NETWORK_READY, "False");

        assertThat(open.observed().condition(ConditionType.NETWORK_READY))
                .hasValueSatisfying(told -> assertThat(told.getMessage())
                        .startsWith("NetworkPolicy sandglass-default-deny of namespace tenant-a does not isolate"));
        assertThat(open.observed().reason(ConditionType.READY)).contains(Reason.POD_REFUSED);
        assertThat(client.pods().inNamespace("tenant-a").list().getItems()).isEmpty();

        namespacePolicy().delete();

        rounds.told(sandbox, ConditionType.NETWORK_READY, "True");
        await().atMost(MockedRounds.SOON).untilAsserted(() -> {
            assertThat(client.pods().inNamespace("tenant-a").list().getItems()).hasSize(1);
        });
        assertThat(namespacePolicy().get().getSpec())
                .isEqualTo(NamespacePolicy.desired("tenant-a").getSpec());
    }

    @Test
    void whoRunsWhereNobodyIsCutOffAnyMoreIsToldAndGoesOn() {
        Sandbox sandbox = rounds.running();

        client.resource(ofTheChartAndTurnedAway()).patch();

        Sandbox open = rounds.told(sandbox, ConditionType.NETWORK_READY, "False");
        assertThat(open.observed().condition(ConditionType.READY)).hasValueSatisfying(ready -> {
            assertThat(ready.getStatus()).isEqualTo("True");
            assertThat(ready.getMessage()).contains("its next start would fail: NetworkPolicy sandglass-default-deny");
        });
        assertThat(client.pods().inNamespace("tenant-a").list().getItems()).hasSize(1);
    }
}
