package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
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

    private static final Duration SOON = Duration.ofSeconds(20);

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
            Sandbox plain = ready("plain");
            namespace.create("open", OPEN);
            Sandbox open = ready("open");

            assertThat(plain.observed().holds(ConditionType.NETWORK_READY)).isTrue();
            assertThat(namespace.policy(ChildNames.networkPolicy(plain))).isEmpty();
            assertThat(own(open).getSpec().getIngress().getFirst().getPorts()).hasSize(2);
            assertThat(operator.requests("POST", "networkpolicies")).isEqualTo(3);
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

    @Test
    void theOperatorsPolicyIsRestoredWhenItIsAltered() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("altered", SandboxSpec.DEFAULT);
            ready("altered");
            NetworkPolicy right = policy(ChildNames.NAMESPACE_ACCESS);

            namespace.admin.resource(wideOpen(right)).update();

            await().atMost(SOON)
                    .until(() -> policy(ChildNames.NAMESPACE_ACCESS).getSpec().equals(right.getSpec()));
            assertThat(operator.requests("PUT", "networkpolicies")).isEqualTo(1);
        }
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
