package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.TimeLimit;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The pod in which untrusted code runs. Everything that holds it in is said here, once, for all. */
public final class SandboxPod {

    /** Name of the only container. */
    public static final String CONTAINER = "sandbox";

    /** How the pod calls itself. */
    static final String HOSTNAME = "sandbox";

    /**
     * Said here and not left to the image's entry point: an image without our supervisor then ends at once and says why,
     * instead of running something that nobody can speak to. -I: nothing that the code left in its home is imported.
     */
    private static final List<String> SUPERVISOR = List.of("python3", "-I", "-m", "sandglass_supervisor");

    /** A pod on a node that fell silent is given up after so many seconds, instead of five minutes. */
    private static final long NODE_LOSS_SECONDS = 30;

    /** The supervisor ends its children at once; whoever ignores SIGTERM shall not hold up a stop for long. */
    private static final long GRACE_SECONDS = 2;

    private static final String REPLACED = "SANDGLASS_REPLACED";

    private SandboxPod() {}

    /**
     * The pod of one incarnation.
     *
     * @param workspace the claim of its workspace, which says whose files there are; empty if it has none
     * @param proxy empty if the installation has no egress proxy
     */
    public static Pod desired(
            Sandbox sandbox,
            int incarnation,
            PodSettings settings,
            Optional<PersistentVolumeClaim> workspace,
            Optional<ProxyAccess> proxy) {
        return new PodBuilder()
                .withMetadata(ChildMetadata.ofIncarnation(sandbox, incarnation)
                        .edit()
                        .addToAnnotations(SandboxLabels.POD_SPEC_HASH, SpecHash.of(sandbox.wanted()))
                        .addToAnnotations(ownLifetime(sandbox))
                        // Its memory is the product: a node is not emptied to save money while somebody uses it.
                        .addToAnnotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")
                        .addToAnnotations("karpenter.sh/do-not-disrupt", "true")
                        .build())
                .withSpec(spec(sandbox, incarnation, settings, proxy)
                        .withSecurityContext(podSecurity(settings.users().of(sandbox, workspace)))
                        .withHostUsers(settings.users().hostUsers() ? null : false)
                        .build())
                .build();
    }

    /**
     * The same pod in the place of one that ended, so that who used that one hears of it.
     *
     * @param why one word, the supervisor's to explain
     */
    public static Pod after(Pod desired, String why) {
        return new PodBuilder(desired)
                .editSpec()
                .editFirstContainer()
                .addToEnv(variable(REPLACED, why))
                .endContainer()
                .endSpec()
                .build();
    }

    /** The word that a pod was made with in the place of one that ended; empty if it has nothing to tell. */
    public static Optional<String> saysLost(Pod pod) {
        return Optional.ofNullable(pod.getSpec()).stream()
                .flatMap(spec -> spec.getContainers().stream())
                .flatMap(container -> container.getEnv().stream())
                .filter(variable -> REPLACED.equals(variable.getName()))
                .map(EnvVar::getValue)
                .filter(why -> why != null && !why.isEmpty())
                .findFirst();
    }

    /** What gives a pod that runs a shorter maximum lifetime, as a merge patch. */
    public static Map<String, Object> shorter(Sandbox sandbox, Duration age) {
        return Map.of(
                "metadata",
                Map.of("annotations", ownLifetime(sandbox)),
                "spec",
                Map.of("activeDeadlineSeconds", age.toSeconds()));
    }

    /** Recorded, since the age alone does not tell whether the sandbox or the installation asked for it. */
    private static Map<String, String> ownLifetime(Sandbox sandbox) {
        return TimeLimit.MAX_LIFETIME
                .in(sandbox.wanted())
                .map(age -> Map.of(SandboxLabels.OWN_MAX_LIFETIME, Long.toString(age.toSeconds())))
                .orElse(Map.of());
    }

    private static PodSpecBuilder spec(
            Sandbox sandbox, int incarnation, PodSettings settings, Optional<ProxyAccess> proxy) {
        return new PodSpecBuilder()
                .withRestartPolicy("Always")
                .withAutomountServiceAccountToken(false)
                .withServiceAccountName(settings.account().name())
                .withEnableServiceLinks(false)
                .withShareProcessNamespace(false)
                .withHostname(HOSTNAME)
                .withSetHostnameAsFQDN(false)
                .withDnsPolicy("None")
                .withNewDnsConfig()
                .withNameservers(nameserver(settings, proxy))
                .endDnsConfig()
                .withTerminationGracePeriodSeconds(GRACE_SECONDS)
                .withActiveDeadlineSeconds(maxLifetime(sandbox, settings).toSeconds())
                .withPriorityClassName(settings.priorityClass().orElse(null))
                .withRuntimeClassName(
                        settings.runtimeClasses().resolve(sandbox.wanted().runtimeClassName()))
                .withNodeSelector(settings.placement().nodeSelector())
                .withTolerations(settings.placement().tolerations())
                .addToTolerations(
                        toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable"))
                .withContainers(container(sandbox, incarnation, settings, proxy))
                .withVolumes(SandboxVolumes.volumes(sandbox))
                .addAllToVolumes(SandboxTrust.volumes(settings));
    }

    /**
     * The egress proxy, which answers by itself and asks nobody, where it serves programs that know no proxy. Else no
     * resolver at all: a query would be a way out. The API demands one address.
     */
    private static String nameserver(PodSettings settings, Optional<ProxyAccess> proxy) {
        return settings.egress()
                .filter(Egress::splitDns)
                .flatMap(egress -> proxy.map(ProxyAccess::address))
                .orElse("127.0.0.1");
    }

    /** The node ends the pod at that age, whether or not the operator runs. */
    private static Duration maxLifetime(Sandbox sandbox, PodSettings settings) {
        return TimeLimit.MAX_LIFETIME.in(sandbox.wanted()).orElse(settings.maxLifetime());
    }

    private static Container container(
            Sandbox sandbox, int incarnation, PodSettings settings, Optional<ProxyAccess> proxy) {
        SandboxSpec spec = sandbox.wanted();
        return new ContainerBuilder()
                .withName(CONTAINER)
                .withImage(settings.images().resolve(spec.image()))
                .withImagePullPolicy("IfNotPresent")
                .withCommand(SUPERVISOR)
                .withWorkingDir(ScratchVolumes.WORKSPACE)
                .withEnv(environment(sandbox, incarnation, proxy))
                .addAllToEnv(SandboxTrust.variables(settings))
                .addAllToEnv(JavaOptions.of(settings, proxy))
                .addNewPort()
                .withName("link")
                .withContainerPort(SandboxLabels.LINK_PORT)
                .withProtocol("TCP")
                .endPort()
                .withResources(SandboxResources.of(spec, settings.requestRatio()))
                .withSecurityContext(containerSecurity())
                .withVolumeMounts(SandboxVolumes.mounts(sandbox))
                .addAllToVolumeMounts(SandboxTrust.mounts(settings))
                // No probes: an exec probe inherits the link's key, a network probe sees less than the supervisor says.
                .withTerminationMessagePolicy("FallbackToLogsOnError")
                .build();
    }

    private static List<EnvVar> environment(Sandbox sandbox, int incarnation, Optional<ProxyAccess> proxy) {
        String secret = ChildNames.incarnation(sandbox, incarnation);
        List<EnvVar> variables = new ArrayList<>(List.of(
                variable("HOME", ScratchVolumes.WORKSPACE),
                variable("SANDGLASS_SANDBOX_UID", sandbox.getMetadata().getUid()),
                variable("SANDGLASS_INCARNATION", Integer.toString(incarnation)),
                variable("SANDGLASS_LINK_PORT", Integer.toString(SandboxLabels.LINK_PORT)),
                variable("SANDGLASS_DISK_LIMIT_BYTES", SandboxVolumes.writableBytes(sandbox.wanted())),
                variable("SANDGLASS_ENV", SandboxEnvironment.encoded(sandbox)),
                secretVariable("SANDGLASS_LINK_SECRET_KEY", secret, SandboxSecret.LINK_SECRET_KEY),
                secretVariable("SANDGLASS_GATEWAY_PUBLIC_KEY", secret, SandboxSecret.GATEWAY_PUBLIC_KEY)));
        SandboxVolumes.paths(sandbox).ifPresent(paths -> variables.add(variable("SANDGLASS_VOLUMES", paths)));
        proxy.ifPresent(access -> variables.addAll(ProxyVariables.of(secret)));
        return variables;
    }

    private static EnvVar variable(String name, String value) {
        return new EnvVarBuilder().withName(name).withValue(value).build();
    }

    private static EnvVar secretVariable(String name, String secret, String key) {
        return new EnvVarBuilder()
                .withName(name)
                .withNewValueFrom()
                .withNewSecretKeyRef()
                .withName(secret)
                .withKey(key)
                .endSecretKeyRef()
                .endValueFrom()
                .build();
    }

    private static PodSecurityContext podSecurity(long user) {
        return new PodSecurityContextBuilder()
                .withRunAsNonRoot(true)
                .withRunAsUser(user)
                .withRunAsGroup(SandboxUsers.GROUP)
                .withFsGroup(SandboxUsers.GROUP)
                .withFsGroupChangePolicy("OnRootMismatch")
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .build();
    }

    private static SecurityContext containerSecurity() {
        return new SecurityContextBuilder()
                .withPrivileged(false)
                .withAllowPrivilegeEscalation(false)
                .withReadOnlyRootFilesystem(true)
                .withNewCapabilities()
                .withDrop("ALL")
                .endCapabilities()
                .build();
    }

    private static Toleration toleration(String taint) {
        return new TolerationBuilder()
                .withKey(taint)
                .withOperator("Exists")
                .withEffect("NoExecute")
                .withTolerationSeconds(NODE_LOSS_SECONDS)
                .build();
    }
}
