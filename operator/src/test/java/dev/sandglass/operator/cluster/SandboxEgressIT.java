package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ChildNames;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The operator's half of {@code allowedDomains} against a real API server; its own namespace is the tenant's here. */
class SandboxEgressIT {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String SERVICE = "sandglass-egress-proxy";

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    private TestNamespace.Running operator() {
        return namespace.operator(Map.of(
                "OPERATOR_GATEWAY_NAMESPACE",
                namespace.name,
                "EGRESS_SERVICE",
                SERVICE,
                "EGRESS_SECRET_FILE",
                "unused"));
    }

    /** The one that the chart makes; its address. */
    private String service() {
        return namespace
                .admin
                .resource(new ServiceBuilder()
                        .withNewMetadata()
                        .withName(SERVICE)
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withNewSpec()
                        .addNewPort()
                        .withName("proxy")
                        .withPort(3128)
                        .endPort()
                        .endSpec()
                        .build())
                .create()
                .getSpec()
                .getClusterIP();
    }

    /** Of its own policy, or of the namespace's if it has none. */
    private List<NetworkPolicyEgressRule> egress(Sandbox sandbox) {
        return namespace
                .policy(ChildNames.networkPolicy(sandbox))
                .or(() -> namespace.policy(ChildNames.NAMESPACE_ACCESS))
                .orElseThrow()
                .getSpec()
                .getEgress();
    }

    private Sandbox ready(String name) {
        return namespace.await(name, SOON, sandbox -> sandbox.observed().holds(ConditionType.READY));
    }

    private static boolean network(Sandbox sandbox, Reason reason) {
        return sandbox.observed().reason(ConditionType.NETWORK_READY).equals(Optional.of(reason));
    }

    @Test
    void aPodIsToldOfTheProxyByItsSecretAndAStartTakesThreeWritesAsBefore() {
        String address = service();
        try (TestNamespace.Running operator = operator()) {
            namespace.create("out", SandboxSpec.DEFAULT.withAllowedDomains(List.of("example.com")));
            Sandbox sandbox = ready("out");
            // The watch may tell of the last write before its answer is counted.
            await().until(() -> operator.requests("PUT", "sandboxes/status") >= 1);

            assertThat(operator.writes())
                    .as("three, four if it is slow, and the namespace's two policies")
                    .isBetween(5.0, 6.0);
            assertThat(operator.requests("GET", "services")).isEqualTo(1);
            Secret secret = namespace
                    .admin
                    .secrets()
                    .inNamespace(namespace.name)
                    .withName(sandbox.observed().podName())
                    .require();
            String uid = sandbox.getMetadata().getUid();
            String url =
                    new String(Base64.getDecoder().decode(secret.getData().get("proxyUrl")), StandardCharsets.US_ASCII);
            assertThat(url)
                    .isEqualTo("http://" + uid + ":" + TestNamespace.EGRESS_SECRET.passwordOf(uid) + "@" + address
                            + ":3128");
            assertThat(pod(sandbox).getSpec().getContainers().getFirst().getEnv())
                    .filteredOn(variable -> variable.getName().equals("HTTPS_PROXY"))
                    .singleElement()
                    .extracting(EnvVar::getValue)
                    .isNull();
        }
    }

    private Pod pod(Sandbox sandbox) {
        return namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(sandbox.observed().podName())
                .require();
    }

    @Test
    void anotherListIsInForceAtOnceThePodGoesOnAndNothingIsWrittenWithoutNeed() {
        service();
        try (TestNamespace.Running operator = operator()) {
            namespace.create("edited", SandboxSpec.DEFAULT);
            Sandbox before = ready("edited");
            assertThat(egress(before)).hasSize(1);

            namespace.edit(
                    "edited", SandboxSpec.DEFAULT.withAllowedDomains(List.of("example.com", "93.184.215.14:5432")));
            Sandbox after = namespace.await("edited", SOON, sandbox -> Long.valueOf(2)
                    .equals(sandbox.observed().observedGeneration()));

            assertThat(egress(after)).hasSize(2).last().satisfies(rule -> assertThat(
                            rule.getTo().getFirst().getIpBlock().getCidr())
                    .isEqualTo("93.184.215.14/32"));
            assertThat(after.observed().podName()).isEqualTo(before.observed().podName());
            assertThat(after.observed().reason(ConditionType.READY)).contains(Reason.RUNNING);
            namespace.edit("edited", SandboxSpec.DEFAULT);
            namespace.await("edited", SOON, sandbox -> Long.valueOf(3)
                    .equals(sandbox.observed().observedGeneration()));
            assertThat(egress(after)).hasSize(1);
            assertThat(operator.requests("POST", "pods")).isEqualTo(1);
        }
        try (TestNamespace.Running next = operator()) {
            // A second sandbox shows when the newcomer has gone through what it found.
            namespace.create("second", SandboxSpec.DEFAULT.withAllowedDomains(List.of("93.184.0.0/16")));
            ready("second");
            assertThat(next.writes()).isLessThanOrEqualTo(5);
        }
    }

    @Test
    void whatCannotBeInForceIsRefusedBeforeAStartAndToldOfASandboxThatRuns() {
        service();
        try (TestNamespace.Running operator = operator()) {
            namespace.create("wrong", SandboxSpec.DEFAULT.withAllowedDomains(List.of("*.co.uk")));
            Sandbox refused = namespace.await("wrong", SOON, sandbox -> sandbox.observed()
                    .reason(ConditionType.READY)
                    .equals(Optional.of(Reason.INVALID_SPEC)));
            assertThat(refused.observed()
                            .condition(ConditionType.READY)
                            .orElseThrow()
                            .getMessage())
                    .contains("spec.allowedDomains[0]: '*.co.uk'");
            assertThat(operator.requests("POST", "pods")).isZero();

            namespace.edit("wrong", SandboxSpec.DEFAULT.withAllowedDomains(List.of("example.co.uk")));
            assertThat(network(ready("wrong"), Reason.POLICIES_APPLIED)).isTrue();

            namespace.edit("wrong", SandboxSpec.DEFAULT.withAllowedDomains(List.of("10.1.2.3")));
            Sandbox ignored = namespace.await("wrong", SOON, sandbox -> network(sandbox, Reason.DOMAINS_IGNORED));
            assertThat(ignored.observed().holds(ConditionType.READY)).isTrue();
            assertThat(egress(ignored)).hasSize(1);
        }
    }

    @Test
    void noPodIsMadeBeforeTheProxysServiceIsThere() {
        try (TestNamespace.Running operator = operator()) {
            namespace.create("early", SandboxSpec.DEFAULT);
            Sandbox waiting = namespace.await("early", SOON, sandbox -> sandbox.observed()
                    .reason(ConditionType.READY)
                    .equals(Optional.of(Reason.OPERATOR_ERROR)));
            assertThat(waiting.observed()
                            .condition(ConditionType.READY)
                            .orElseThrow()
                            .getMessage())
                    .contains(SERVICE + " does not exist");
            assertThat(operator.requests("POST", "pods")).isZero();

            service();

            assertThat(ready("early").observed().incarnation()).isEqualTo(1);
        }
    }
}
