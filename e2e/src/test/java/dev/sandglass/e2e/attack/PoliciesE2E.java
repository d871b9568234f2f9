package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The chart's admission policies as the API server enforces them. Nothing is made: every request is a dry run, by an
 * administrator or in the operator's name, so that only the policies can refuse it.
 */
class PoliciesE2E {

    private static final String OPERATOR = "system:serviceaccount:" + Installation.NAMESPACE + ":sandglass-operator";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    @BeforeAll
    static void needPolicies() {
        assumeTrue(
                TENANT.kubernetes()
                                .admissionRegistration()
                                .v1()
                                .validatingAdmissionPolicies()
                                .withName(Installation.NAMESPACE + "-sandglass-pod-shape")
                                .get()
                        != null,
                "policies.enabled is false");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static KubernetesClient operator() {
        Config config = new ConfigBuilder(TENANT.kubernetes().getConfiguration())
                .withImpersonateUsername(OPERATOR)
                .withImpersonateGroups("system:masters")
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** A pod as the operator makes it for a sandbox that starts cold, to be made once more. */
    private static PodBuilder likeThatOf(String sandbox) {
        Pod pod = TENANT.podOf(sandbox);
        return new PodBuilder()
                .withNewMetadata()
                .withName(SANDBOXES.name())
                .withNamespace(Tenant.NAMESPACE)
                .withLabels(pod.getMetadata().getLabels())
                .removeFromLabels(SandboxLabels.POOL)
                .removeFromLabels(SandboxLabels.SEAT)
                .endMetadata()
                .withSpec(pod.getSpec())
                .editSpec()
                .withNodeName(null)
                // They are of the Secret that has the name of the other pod.
                .editFirstContainer()
                .withEnv()
                .endContainer()
                .endSpec();
    }

    private static void dryRun(KubernetesClient client, Pod pod) {
        client.resource(pod).dryRun(true).create();
    }

    @Test
    void onlyTheOperatorMakesPodsWithASandboxsLabels() {
        Pod pod = likeThatOf(SANDBOXES.start()).build();

        assertThatThrownBy(() -> dryRun(TENANT.kubernetes(), pod))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("apply a Sandbox instead of a pod");
        try (KubernetesClient operator = operator()) {
            assertThatCode(() -> dryRun(operator, pod)).doesNotThrowAnyException();
        }
    }

    private static Sandbox thatReaches(String entry) {
        return thatReaches(List.of("example.com", entry));
    }

    private static Sandbox thatReaches(List<String> entries) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(SANDBOXES.name());
        sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
        sandbox.setSpec(SandboxSpec.DEFAULT.withAllowedDomains(entries));
        return sandbox;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*",
                "0.0.0.0/0",
                "128.0.0.0/1:5432",
                "92.0.0.0/7",
                "::/0",
                "0:0::/1",
                "2000::/3",
                "[2600::/19]:443"
            })
    void whatOpensTooMuchOfWhatIsPublicIsRefusedWhereItIsNotPermitted(String entry) {
        assertThat(DomainRule.parse(entry).isOpen()).isTrue();
        assertThatThrownBy(() -> TENANT.kubernetes()
                        .resource(thatReaches(entry))
                        .dryRun(true)
                        .create())
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("name the hosts instead");
    }

    @ParameterizedTest
    @ValueSource(strings = {"*.example.com", "92.0.0.0/8", "192.0.2.0/24:5432", "2600::/20", "fc00::/7", "fd00::/8"})
    void whatOpensLessIsNot(String entry) {
        assertThat(DomainRule.parse(entry).isOpen()).isFalse();
        assertThatCode(() -> TENANT.kubernetes()
                        .resource(thatReaches(entry))
                        .dryRun(true)
                        .create())
                .doesNotThrowAnyException();
    }

    private static List<String> ranges(int count, String form) {
        return IntStream.range(0, count).mapToObj(form::formatted).toList();
    }

    private static List<String> joined(List<String> ranges, String more) {
        return Stream.concat(ranges.stream(), Stream.of(more)).toList();
    }

    /** At the bound in each family: as much as one /8, or one /20, and one address more. */
    static Stream<List<String>> listsAtTheBound() {
        return Stream.of(
                List.of("92.0.0.0/8", "92.0.0.0/8:5432", "10.0.0.0/8"),
                ranges(2, "92.%d.0.0/16"),
                List.of("92.0.0.0/9", "92.128.0.0/9"),
                ranges(16, "2600:%x00::/24"),
                List.of("[2600::/20]:443", "2600::/20", "92.0.0.0/8"));
    }

    static Stream<List<String>> listsBeyondIt() {
        return Stream.of(
                IntStream.range(0, 64).mapToObj(i -> 128 + i + ".0.0.0/8").toList(),
                List.of("92.0.0.0/8", "93.184.215.14"),
                List.of("92.0.0.0/9", "92.128.0.0/9", "93.0.0.0/16:5432"),
                joined(ranges(16, "2600:%x00::/24"), "[2700::1]:443"),
                ranges(63, "2600:%x00::/24"));
    }

    @ParameterizedTest
    @MethodSource("listsAtTheBound")
    void rangesThatHaveLittleTogetherAreTaken(List<String> entries) {
        assertThat(EgressRules.parse(entries).isOpen()).isFalse();
        assertThatCode(() -> TENANT.kubernetes()
                        .resource(thatReaches(entries))
                        .dryRun(true)
                        .create())
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @MethodSource("listsBeyondIt")
    void rangesThatOpenTooMuchTogetherAreRefused(List<String> entries) {
        assertThat(EgressRules.parse(entries).isOpenTogether()).isTrue();
        assertThatThrownBy(() -> TENANT.kubernetes()
                        .resource(thatReaches(entries))
                        .dryRun(true)
                        .create())
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("its ranges together have more public addresses than one /8");
    }

    /** The gateway connects to the address that a status names. {@code e2e/refusals.py} tries more accounts. */
    @Test
    void onlyTheOperatorWritesTheStatusOfASandbox() {
        Kubectl kubectl = Kubectl.of(Installation.current());
        List<String> forge = List.of(
                "patch",
                "sandboxes.sandglass.dev",
                SANDBOXES.start(),
                "--subresource=status",
                "--type=merge",
                "--patch={\"status\": {\"address\": \"192.0.2.1\"}}",
                "--dry-run=server");

        assertThatThrownBy(() -> kubectl.run(forge.toArray(String[]::new)))
                .hasMessageContaining("only the Sandglass operator may write the status");
        String[] asOperator = Stream.concat(forge.stream(), Stream.of("--as=" + OPERATOR, "--as-group=system:masters"))
                .toArray(String[]::new);
        assertThat(kubectl.run(asOperator)).contains("patched");
    }

    @Test
    void nobodyTakesTheLabelsFromARunningPod() {
        PodResource running = TENANT.kubernetes()
                .pods()
                .inNamespace(Tenant.NAMESPACE)
                .withName(TENANT.podOf(SANDBOXES.start()).getMetadata().getName());

        assertThatThrownBy(() -> Tenant.again(() -> running.edit(PoliciesE2E::unlabelled)))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("only the Sandglass operator may set a sandbox's labels");
        assertThatThrownBy(() -> Tenant.again(() -> running.editStatus(PoliciesE2E::unlabelled)))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("only the Sandglass operator may set a sandbox's labels");
    }

    private static Pod unlabelled(Pod pod) {
        return pod.edit()
                .editMetadata()
                .removeFromLabels(SandboxLabels.COMPONENT)
                .endMetadata()
                .build();
    }

    /** What Pod Security refuses too, it refuses first; {@code e2e/refusals.py} asks each rule where there is none. */
    @Test
    void nobodyGivesARunningPodAnotherImage() {
        String pod = TENANT.podOf(SANDBOXES.start()).getMetadata().getName();

        keepsItsImage(TENANT.kubernetes(), pod, "the image of a sandbox's pod cannot change");
        try (KubernetesClient operator = operator()) {
            keepsItsImage(operator, pod, "the Sandglass operator may change nothing in the spec of a pod");
        }
    }

    private static void keepsItsImage(KubernetesClient account, String pod, String rule) {
        assertThatThrownBy(() -> Tenant.again(() -> account.pods()
                        .inNamespace(Tenant.NAMESPACE)
                        .withName(pod)
                        .edit(PoliciesE2E::withAnotherImage)))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining(rule);
    }

    private static Pod withAnotherImage(Pod pod) {
        return new PodBuilder(pod)
                .editSpec()
                .editFirstContainer()
                .withImage("registry.example.com/another:1")
                .endContainer()
                .endSpec()
                .build();
    }

    @TestFactory
    Stream<DynamicTest> notEvenTheOperatorMakesASoftPod() {
        Pod hard = likeThatOf(SANDBOXES.start()).build();
        return softenings().entrySet().stream()
                .map(each -> DynamicTest.dynamicTest(each.getKey(), () -> {
                    Pod soft = new PodBuilder(hard).build();
                    each.getValue().accept(soft);
                    try (KubernetesClient operator = operator()) {
                        assertThatThrownBy(() -> dryRun(operator, soft))
                                .isInstanceOf(KubernetesClientException.class)
                                .hasMessageMatching("(?s).*(" + each.getKey() + "|violates PodSecurity).*");
                    }
                }));
    }

    private static Map<String, Consumer<Pod>> softenings() {
        return Map.of(
                "hostNetwork, hostPID and hostIPC must not be true",
                        pod -> pod.getSpec().setHostNetwork(true),
                "automountServiceAccountToken must be false",
                        pod -> pod.getSpec().setAutomountServiceAccountToken(true),
                "runAsNonRoot must be true",
                        pod -> pod.getSpec().getSecurityContext().setRunAsNonRoot(false),
                "seccompProfile must be RuntimeDefault",
                        pod -> pod.getSpec()
                                .getSecurityContext()
                                .getSeccompProfile()
                                .setType("Unconfined"),
                "readOnlyRootFilesystem must be true",
                        pod -> first(pod).getSecurityContext().setReadOnlyRootFilesystem(false),
                "allowPrivilegeEscalation must be false",
                        pod -> first(pod).getSecurityContext().setAllowPrivilegeEscalation(true),
                "must drop ALL and add none",
                        pod -> first(pod).getSecurityContext().setCapabilities(null),
                "hostPort must not be set",
                        pod -> first(pod).getPorts().getFirst().setHostPort(5710));
    }

    private static Container first(Pod pod) {
        return pod.getSpec().getContainers().getFirst();
    }

    @Test
    void podsWithoutOurLabelsAreNotOurBusinessAndSoNotTheOperators() {
        Pod pod = likeThatOf(SANDBOXES.start())
                .editMetadata()
                .withLabels(Map.of("app.kubernetes.io/component", "web"))
                .endMetadata()
                .build();

        assertThatCode(() -> dryRun(TENANT.kubernetes(), pod)).doesNotThrowAnyException();
        try (KubernetesClient operator = operator()) {
            assertThatThrownBy(() -> dryRun(operator, pod))
                    .isInstanceOf(KubernetesClientException.class)
                    .hasMessageContaining("may write only pods of sandboxes");
        }
    }

    /** The cluster has it, and there it would do no harm; elsewhere it can be the weaker one. */
    @Test
    void aRuntimeClassThatIsNotAllowedIsRefusedAtOnceByBothDoors() {
        String rule = "spec.runtimeClassName: runc-alt is not on this installation's list of allowed RuntimeClasses"
                + " (sandbox.allowedRuntimeClasses of the chart)";
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(SANDBOXES.name());
        sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
        sandbox.setSpec(SandboxSpec.DEFAULT.withRuntimeClassName("runc-alt"));

        assertThatThrownBy(() -> TENANT.kubernetes().resource(sandbox).create())
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining(rule);
        assertThat(SANDBOXES
                        .agent()
                        .refusal(
                                "sandbox_start",
                                Map.of("sandbox", SANDBOXES.name(), "config", Map.of("runtime_class", "runc-alt"))))
                .contains(rule);
        sandbox.setSpec(SandboxSpec.DEFAULT.withRuntimeClassName("gvisor"));
        assertThat(TENANT.kubernetes().resource(sandbox).dryRun(true).create()).isNotNull();
    }

    @Test
    void anImageThatIsNotAllowedIsRefusedAtOnceInTheOperatorsWords() {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(SANDBOXES.name());
        sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
        sandbox.setSpec(new SandboxSpec("registry.example.com/other:1", null, null, null, null, false));

        assertThatThrownBy(() -> TENANT.kubernetes().resource(sandbox).create())
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("spec.image: registry.example.com/other:1 is not on this installation's list");
        sandbox.setSpec(new SandboxSpec("microsandbox/python", null, null, null, null, false));
        assertThat(TENANT.kubernetes().resource(sandbox).dryRun(true).create()).isNotNull();
    }
}
