package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ChildNames;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which NetworkPolicies there are, and what becomes of them when somebody else lays hands on them. */
class PoliciesIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final SandboxSpec OPEN = SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort("web", 8080)));

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    private Sandbox ready(String name) {
        return namespace.await(name, SOON, sandbox -> sandbox.observed().holds(ConditionType.READY));
    }

    private NetworkPolicy policy(String name) {
        return namespace.policy(name).orElseThrow();
    }

    private NetworkPolicy own(Sandbox sandbox) {
        return policy(ChildNames.networkPolicy(sandbox));
    }

    @Test
    void theNamespacesPoliciesAreEnoughForASandboxThatDeclaresNothing() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("plain", SandboxSpec.DEFAULT);
            namespace.create("open", OPEN);
            Sandbox plain = ready("plain");
            Sandbox open = ready("open");

            assertThat(plain.observed().holds(ConditionType.NETWORK_READY)).isTrue();
            assertThat(namespace.policy(ChildNames.networkPolicy(plain))).isEmpty();
            assertThat(own(open).getSpec().getIngress().getFirst().getPorts()).hasSize(2);
            assertThat(operator.requests("POST", "networkpolicies")).isGreaterThanOrEqualTo(3);
        }
    }

    @Test
    void aPortThatIsDeclaredLaterIsOpenedAndClosedAgainInTheSamePod() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("edited", SandboxSpec.DEFAULT);
            Sandbox before = ready("edited");

            namespace.edit("edited", OPEN);
            await().atMost(SOON)
                    .until(() ->
                            namespace.policy(ChildNames.networkPolicy(before)).isPresent());
            namespace.edit("edited", SandboxSpec.DEFAULT);

            await().atMost(SOON)
                    .until(() -> own(before)
                                    .getSpec()
                                    .getIngress()
                                    .getFirst()
                                    .getPorts()
                                    .size()
                            == 1);
            assertThat(ready("edited").observed().podName())
                    .isEqualTo(before.observed().podName());
            assertThat(operator.requests("POST", "pods")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {ChildNames.NAMESPACE_POLICY, ChildNames.NAMESPACE_ACCESS})
    void whatIsTakenFromTheNamespaceComesBackWithoutAnybodyAsking(String name) {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("robbed", SandboxSpec.DEFAULT);
            ready("robbed");
            NetworkPolicy first = policy(name);

            namespace.admin.resource(first).delete();

            await().atMost(SOON).until(() -> namespace.policy(name).isPresent());
            assertThat(policy(name).getSpec()).isEqualTo(first.getSpec());
            assertThat(operator.requests("POST", "pods")).isEqualTo(1);
        }
    }

    /** All of them are woken at once, and one of them is the first. */
    @ParameterizedTest
    @ValueSource(strings = {ChildNames.NAMESPACE_POLICY, ChildNames.NAMESPACE_ACCESS})
    void theOperatorsPolicyIsRestoredWhenItIsAlteredAndNobodyIsHarmed(String name) {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            List<String> names = List.of("altered-1", "altered-2", "altered-3", "altered-4");
            names.forEach(each -> namespace.create(each, SandboxSpec.DEFAULT));
            names.forEach(this::ready);
            NetworkPolicy right = policy(name);

            namespace.again(
                    () -> namespace.admin.resource(wideOpen(policy(name))).update());

            await().atMost(SOON).until(() -> policy(name).getSpec().equals(right.getSpec()));
            names.forEach(each -> assertThat(namespace.policy(ChildNames.networkPolicy(ready(each))))
                    .isEmpty());
            assertThat(operator.requests("POST", "pods")).isEqualTo(names.size());
        }
    }

    @Test
    void aSandboxsOwnPolicyIsTurnedBackWhenItIsTurnedToOtherPods() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("turned", OPEN);
            Sandbox sandbox = ready("turned");
            NetworkPolicy right = own(sandbox);

            namespace.again(() -> namespace
                    .admin
                    .resource(new NetworkPolicyBuilder(own(sandbox))
                            .editSpec()
                            .withNewPodSelector()
                            .addToMatchLabels("app.kubernetes.io/component", "web")
                            .endPodSelector()
                            .endSpec()
                            .build())
                    .update());

            await().atMost(SOON).until(() -> own(sandbox).getSpec().equals(right.getSpec()));
            assertThat(ready("turned").observed().holds(ConditionType.NETWORK_READY))
                    .isTrue();
            assertThat(operator.requests("POST", "pods")).isEqualTo(1);
        }
    }

    @Test
    void aPolicyOfTheNamespaceThatAllowsMoreIsEnough() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("first", SandboxSpec.DEFAULT);
            ready("first");
            namespace.again(() -> namespace
                    .admin
                    .resource(ofSomebodyElse(policy(ChildNames.NAMESPACE_ACCESS)))
                    .update());

            namespace.create("second", SandboxSpec.DEFAULT);

            assertThat(namespace.policy(ChildNames.networkPolicy(ready("second"))))
                    .isEmpty();
            assertThat(operator.requests("PUT", "networkpolicies")).isZero();
        }
    }

    private static NetworkPolicy ofSomebodyElse(NetworkPolicy policy) {
        return new NetworkPolicyBuilder(policy)
                .editMetadata()
                .addToLabels("app.kubernetes.io/managed-by", "somebody")
                .endMetadata()
                .editSpec()
                .editFirstIngress()
                .addNewPort()
                .withProtocol("TCP")
                .withNewPort(9999)
                .endPort()
                .endIngress()
                .endSpec()
                .build();
    }

    @Test
    void whatSomebodyElseMadeStaysAndIsNotReliedUpon() {
        NetworkPolicy foreign = namespace
                .admin
                .resource(new NetworkPolicyBuilder()
                        .withNewMetadata()
                        .withName(ChildNames.NAMESPACE_ACCESS)
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withNewSpec()
                        .withNewPodSelector()
                        .endPodSelector()
                        .withPolicyTypes("Ingress")
                        .endSpec()
                        .build())
                .create();
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("guest", SandboxSpec.DEFAULT);
            Sandbox sandbox = ready("guest");

            assertThat(own(sandbox).getSpec().getIngress().getFirst().getPorts())
                    .hasSize(1);
            assertThat(policy(ChildNames.NAMESPACE_ACCESS).getMetadata().getResourceVersion())
                    .isEqualTo(foreign.getMetadata().getResourceVersion());
            assertThat(operator.requests("PUT", "networkpolicies")).isZero();
        }
    }

    private static NetworkPolicy wideOpen(NetworkPolicy policy) {
        return new NetworkPolicyBuilder(policy)
                .editSpec()
                .withIngress(List.of())
                .addNewIngress()
                .endIngress()
                .endSpec()
                .build();
    }
}
