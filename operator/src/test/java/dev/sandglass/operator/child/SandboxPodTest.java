package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvVariable;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Field by field what holds untrusted code in, whatever the tenant writes. */
class SandboxPodTest {

    private static final PodSettings SETTINGS = new PodSettings(
            new ImagePolicy("registry.example.com/kernel:1", List.of("**")),
            Duration.ofHours(8),
            new NamespaceAccount("sandglass-sandbox", List.of()),
            RuntimeClassPolicy.DEFAULT_ONLY,
            SandboxUsers.DEFAULT,
            Scheduling.anywhere(RequestRatios.of("0.25")));

    /** A pod of an installation that says nothing of it is what it was before there was that setting. */
    @Test
    void theSessionsOfTheInstallationAreTheSupervisors() {
        PodSettings some = new PodSettings(
                SETTINGS.images(),
                SETTINGS.maxLifetime(),
                SETTINGS.account(),
                SETTINGS.runtimeClasses(),
                SETTINGS.users(),
                SETTINGS.scheduling(),
                Optional.empty(),
                Optional.empty(),
                20);
        Pod other = SandboxPod.desired(
                sandbox(SandboxSpec.DEFAULT), 1, some, Optional.empty(), Optional.empty(), NetworkProbe.NONE);

        assertThat(sessions(other)).containsExactly("20");
        assertThat(sessions(pod(SandboxSpec.DEFAULT))).isEmpty();
    }

    private static List<String> sessions(Pod pod) {
        return pod.getSpec().getContainers().getFirst().getEnv().stream()
                .filter(variable -> variable.getName().equals("SANDGLASS_MAX_SESSIONS"))
                .map(EnvVar::getValue)
                .toList();
    }

    private static Pod pod(SandboxSpec spec) {
        return SandboxPod.desired(sandbox(spec), 1, SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE);
    }

    private static Sandbox sandbox(SandboxSpec spec) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(spec);
        return sandbox;
    }

    /** The label lets a pod mount Secrets of tool servers, as far as the chart's policy goes. */
    @Test
    void onlyThePodOfAToolServersChildHasItsLabel() {
        Sandbox child = ToolServerChild.desired(Servers.stdio());
        child.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        Sandbox labelled = sandbox(SandboxSpec.DEFAULT);
        labelled.getMetadata().setLabels(Map.of(SandboxLabels.TOOL_SERVER, "time"));

        assertThat(label(child)).isEqualTo("time");
        assertThat(label(labelled)).as("without an owner").isNull();
        assertThat(label(sandbox(SandboxSpec.DEFAULT))).isNull();
    }

    private static @Nullable String label(Sandbox sandbox) {
        return SandboxPod.desired(sandbox, 1, SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE)
                .getMetadata()
                .getLabels()
                .get(SandboxLabels.TOOL_SERVER);
    }

    @Test
    void thePodPassesEveryRuleOfPodSecurityRestricted() {
        PodSpec spec = pod(SandboxSpec.DEFAULT).getSpec();
        assertThat(spec.getHostNetwork()).isNull();
        assertThat(spec.getHostPID()).isNull();
        assertThat(spec.getHostIPC()).isNull();
        assertThat(spec.getVolumes()).allMatch(volume -> volume.getEmptyDir() != null);
        assertThat(spec.getSecurityContext().getRunAsNonRoot()).isTrue();
        assertThat(spec.getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
        assertThat(spec.getSecurityContext().getSysctls()).isEmpty();
        Container container = spec.getContainers().getFirst();
        assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
        assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(container.getSecurityContext().getCapabilities().getAdd()).isEmpty();
        assertThat(container.getPorts()).allMatch(port -> port.getHostPort() == null);
    }

    @Test
    void thePodHasNoWayToTheClusterOrTheNode() {
        PodSpec spec = pod(SandboxSpec.DEFAULT).getSpec();
        assertThat(spec.getAutomountServiceAccountToken()).isFalse();
        assertThat(spec.getServiceAccountName()).isEqualTo("sandglass-sandbox");
        assertThat(spec.getEnableServiceLinks()).isFalse();
        assertThat(spec.getDnsPolicy()).isEqualTo("None");
        assertThat(spec.getDnsConfig().getNameservers()).containsExactly("127.0.0.1");
        assertThat(spec.getShareProcessNamespace()).isFalse();
        assertThat(spec.getInitContainers()).isEmpty();
        assertThat(spec.getEphemeralContainers()).isEmpty();
        assertThat(spec.getContainers()).hasSize(1);
        assertThat(spec.getContainers().getFirst().getSecurityContext().getReadOnlyRootFilesystem())
                .isTrue();
    }

    /** The file that the kubelet mounts there lies on the node's disk, open to all users and counted by no limit. */
    @Test
    void theTerminationLogLiesWhereOnlyRootComes() {
        Container container = pod(SandboxSpec.DEFAULT).getSpec().getContainers().getFirst();
        assertThat(container.getTerminationMessagePath()).isEqualTo("/root/termination-log");
        assertThat(container.getTerminationMessagePolicy()).isEqualTo("FallbackToLogsOnError");
    }

    @Test
    void sharedMemoryIsOfTheSandboxesMemory() {
        PodSpec spec = pod(new SandboxSpec(null, new Quantity("3Gi"), null, null, null, false))
                .getSpec();
        assertThat(spec.getVolumes())
                .filteredOn(volume -> volume.getName().equals("shm"))
                .singleElement()
                .satisfies(volume -> {
                    assertThat(volume.getEmptyDir().getMedium()).isEqualTo("Memory");
                    assertThat(volume.getEmptyDir().getSizeLimit()).isEqualTo(new Quantity("3Gi"));
                });
        assertThat(spec.getContainers().getFirst().getVolumeMounts())
                .filteredOn(mount -> mount.getName().equals("shm"))
                .singleElement()
                .satisfies(mount -> assertThat(mount.getMountPath()).isEqualTo("/dev/shm"));
    }

    @Test
    void nothingIsProbedBecauseAProbeWouldInheritTheKey() {
        Container container = pod(SandboxSpec.DEFAULT).getSpec().getContainers().getFirst();
        assertThat(container.getLivenessProbe()).isNull();
        assertThat(container.getReadinessProbe()).isNull();
        assertThat(container.getStartupProbe()).isNull();
        assertThat(container.getLifecycle()).isNull();
    }

    @Test
    void everythingThatCanGrowHasALimit() {
        Pod pod = pod(new SandboxSpec(null, new Quantity("1Gi"), new Quantity("2"), new Quantity("3Gi"), null, false));
        Container container = pod.getSpec().getContainers().getFirst();
        assertThat(container.getResources().getLimits())
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "memory", new Quantity("1Gi"),
                        "cpu", new Quantity("2"),
                        "ephemeral-storage", new Quantity("3Gi")));
        assertThat(container.getResources().getRequests())
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "memory", new Quantity("256Mi"),
                        "cpu", new Quantity("500m"),
                        "ephemeral-storage", new Quantity("768Mi")));
        assertThat(pod.getSpec().getVolumes())
                .allMatch(volume -> volume.getEmptyDir().getSizeLimit() != null);
        assertThat(pod.getSpec().getActiveDeadlineSeconds()).isEqualTo(28_800);
    }

    @Test
    void theUsersVariablesReachOnlyTheOneThatCarriesThemAllAndExpandNothing() {
        Pod pod = pod(new SandboxSpec(
                null,
                null,
                null,
                null,
                List.of(new EnvVariable("PATH", "$(SANDGLASS_LINK_SECRET_KEY)$$"), new EnvVariable("Q", "\"\\\n")),
                false));
        List<EnvVar> variables = pod.getSpec().getContainers().getFirst().getEnv();
        assertThat(variables)
                .extracting(EnvVar::getName)
                .doesNotContain("PATH", "Q")
                .doesNotHaveDuplicates();
        assertThat(variables)
                .filteredOn(variable -> variable.getValue() != null)
                .allMatch(variable -> !variable.getValue().contains("$"));
        String json = variables.stream()
                .filter(variable -> variable.getName().equals("SANDGLASS_ENV"))
                .findFirst()
                .orElseThrow()
                .getValue();
        Map<?, ?> decoded = Serialization.unmarshal(json, Map.class);
        assertThat((Object) decoded).isEqualTo(Map.of("PATH", "$(SANDGLASS_LINK_SECRET_KEY)$$", "Q", "\"\\\n"));
    }

    /** Only then a later edit can be told from another value of the installation. */
    @Test
    void aPodSaysThatItsMaximumAgeIsItsSandboxsOwn() {
        SandboxSpec brief = SandboxSpec.DEFAULT.withMaxLifetime("2h");
        Duration age = Duration.ofHours(2);
        Map<String, String> own = Map.of(SandboxLabels.OWN_MAX_LIFETIME, "7200");

        assertThat(pod(brief).getMetadata().getAnnotations()).containsAllEntriesOf(own);
        assertThat(pod(SandboxSpec.DEFAULT).getMetadata().getAnnotations())
                .doesNotContainKey(SandboxLabels.OWN_MAX_LIFETIME);
        assertThat(SandboxPod.shorter(sandbox(brief), age))
                .isEqualTo(
                        Map.of("metadata", Map.of("annotations", own), "spec", Map.of("activeDeadlineSeconds", 7200L)));
        assertThat(SandboxPod.shorter(sandbox(SandboxSpec.DEFAULT), age))
                .isEqualTo(Map.of(
                        "metadata", Map.of("annotations", Map.of()), "spec", Map.of("activeDeadlineSeconds", 7200L)));
    }

    @Test
    void namesOfChildrenComeFromTheUid() {
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT);
        assertThat(SandboxPod.subject(sandbox, 12).name()).isEqualTo("sbx-7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80-12");
        assertThat(ChildNames.networkPolicy(sandbox)).isEqualTo("sbx-7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
    }

    @Test
    void variablesThatAKernelCouldNotBeGivenAreRefusedBeforehand() {
        Sandbox sandbox = sandbox(
                new SandboxSpec(null, null, null, null, List.of(new EnvVariable("A", "\u0001".repeat(30_000))), false));
        assertThat(PodRefusal.of(sandbox, SETTINGS).orElseThrow().message()).contains("128 KiB");
    }

    @Test
    void aResourceThatIsOlderThanTheSchemasBoundsIsRefused() {
        Sandbox sandbox = sandbox(new SandboxSpec(null, new Quantity("1Mi"), null, null, null, false));
        assertThat(PodRefusal.of(sandbox, SETTINGS).orElseThrow().message())
                .isEqualTo("spec.memory: 1Mi is less than the 64Mi a sandbox needs");
    }

    @Test
    void portsShapeThePolicyAndNotThePod() {
        SandboxSpec open = SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort("web", 8000)));

        assertThat(SpecHash.outdated(pod(SandboxSpec.DEFAULT), sandbox(open))).isFalse();
        assertThat(pod(open).getSpec()).isEqualTo(pod(SandboxSpec.DEFAULT).getSpec());
        assertThat(SandboxNetworkPolicy.desired(sandbox(open), "system", Optional.empty())
                        .getSpec()
                        .getIngress()
                        .getFirst()
                        .getPorts())
                .extracting(port -> port.getPort().getIntVal())
                .containsExactly(5710, 8000);
    }

    @Test
    void aDifferentWayOfWritingTheSameQuantityIsNoEdit() {
        Pod pod = pod(new SandboxSpec(null, new Quantity("1Gi"), null, null, null, false));
        assertThat(SpecHash.outdated(
                        pod, sandbox(new SandboxSpec(null, new Quantity("1024Mi"), null, null, null, false))))
                .isFalse();
        assertThat(SpecHash.outdated(
                        pod, sandbox(new SandboxSpec(null, new Quantity("1025Mi"), null, null, null, true))))
                .isTrue();
        assertThat(SpecHash.outdated(pod, sandbox(new SandboxSpec(null, new Quantity("1Gi"), null, null, null, true))))
                .isFalse();
    }
}
