package dev.sandglass.operator.pod;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.SandboxUsers;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A pod in which untrusted code runs, but for who it is. Everything that holds the code in is said here, once, for all
 * pods; what differs between two pods of the same shape is in their {@link PodIdentity}.
 *
 * @param image what its spec names; null for the installation's default image
 * @param size its limits
 * @param runtimeClass what its spec names; null for the installation's, or the cluster's default
 * @param volumes what it mounts
 * @param settings what the installation says about every pod
 * @param proxy IP address of the egress proxy; empty if the installation has none
 * @param probe what its supervisor tries to reach in vain
 */
public record PodShape(
        @Nullable String image,
        PodSize size,
        @Nullable String runtimeClass,
        PodVolumes volumes,
        PodSettings settings,
        Optional<String> proxy,
        NetworkProbe probe) {

    /** How the pod calls itself. */
    static final String HOSTNAME = "sandbox";

    /**
     * Said here and not left to the image's entry point: an image without our supervisor then ends at once and says why,
     * instead of running something that the gateway cannot speak to. -I: nothing that the code left in its home is
     * imported.
     */
    private static final List<String> SUPERVISOR = List.of("python3", "-I", "-m", "sandglass_supervisor");

    /** A pod on a node that fell silent is given up after so many seconds, instead of five minutes. */
    private static final long NODE_LOSS_SECONDS = 30;

    /** The supervisor ends its children at once; a program that ignores SIGTERM does not hold up a stop for long. */
    private static final long GRACE_SECONDS = 2;

    /** The pod of this shape with that identity. */
    public Pod of(PodIdentity identity) {
        return new PodBuilder()
                .withMetadata(identity.metadata())
                .withSpec(spec(identity))
                .build();
    }

    private PodSpec spec(PodIdentity identity) {
        return new PodSpecBuilder()
                .withRestartPolicy("Always")
                .withAutomountServiceAccountToken(false)
                .withServiceAccountName(settings.account().name())
                .withEnableServiceLinks(false)
                .withShareProcessNamespace(false)
                .withHostUsers(settings.users().hostUsers() ? null : false)
                .withHostname(HOSTNAME)
                .withSetHostnameAsFQDN(false)
                .withDnsPolicy("None")
                .withNewDnsConfig()
                .withNameservers(nameserver())
                .endDnsConfig()
                .withTerminationGracePeriodSeconds(GRACE_SECONDS)
                .withActiveDeadlineSeconds(identity.lifetime().toSeconds())
                .withPriorityClassName(settings.scheduling().priorityClass().orElse(null))
                .withRuntimeClassName(settings.runtimeClasses().resolve(runtimeClass))
                .withNodeSelector(settings.scheduling().placement().nodeSelector())
                .withTolerations(settings.scheduling().placement().tolerations())
                .addToTolerations(
                        toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable"))
                .withSecurityContext(podSecurity(identity.user()))
                .withContainers(container(identity))
                .withVolumes(volumes.volumes(size))
                .addAllToVolumes(PodTrust.volumes(settings))
                .build();
    }

    /**
     * The egress proxy, which answers by itself and asks no other server, where it serves programs that know no proxy. Else no
     * resolver at all: a query would be a way out. The API demands one address.
     */
    private String nameserver() {
        return settings.egress()
                .filter(Egress::splitDns)
                .flatMap(egress -> proxy)
                .orElse("127.0.0.1");
    }

    private Container container(PodIdentity identity) {
        return new ContainerBuilder()
                .withName(SandboxContainer.NAME)
                .withImage(settings.images().resolve(image))
                .withImagePullPolicy("IfNotPresent")
                .withCommand(SUPERVISOR)
                .withWorkingDir(ScratchVolumes.WORKSPACE)
                .withEnv(environment(identity))
                .addNewPort()
                .withName("link")
                .withContainerPort(SandboxLabels.LINK_PORT)
                .withProtocol("TCP")
                .endPort()
                .withResources(size.resources(settings.scheduling().requestRatios()))
                .withSecurityContext(containerSecurity())
                .withVolumeMounts(volumes.mounts())
                .addAllToVolumeMounts(PodTrust.mounts(settings))
                // No others: an exec probe inherits the link's key, a network probe sees less than the supervisor says.
                .withStartupProbe(identity.seatLanguages().isPresent() ? kernelsAreUp() : null)
                .withTerminationMessagePath(SandboxContainer.TERMINATION_LOG)
                .withTerminationMessagePolicy("FallbackToLogsOnError")
                .build();
    }

    /**
     * The supervisor of a seat opens its port when the seat's kernels have started, and sandboxes claim such a seat before
     * others. The kubelet never ends a container for that: a sandbox may have claimed it meanwhile, and a cluster may keep the
     * kubelet from its pods.
     */
    private static Probe kernelsAreUp() {
        return new ProbeBuilder()
                .withNewTcpSocket()
                .withNewPort(SandboxLabels.LINK_PORT)
                .endTcpSocket()
                // A probe that fails is an Event.
                .withInitialDelaySeconds(1)
                .withPeriodSeconds(1)
                .withFailureThreshold(Integer.MAX_VALUE)
                .build();
    }

    private List<EnvVar> environment(PodIdentity identity) {
        PodSubject subject = identity.subject();
        String secret = subject.name();
        List<EnvVar> variables = new ArrayList<>(List.of(
                variable("HOME", ScratchVolumes.WORKSPACE),
                variable("SANDGLASS_SANDBOX_UID", subject.id()),
                variable("SANDGLASS_INCARNATION", Integer.toString(subject.incarnation())),
                variable("SANDGLASS_LINK_PORT", Integer.toString(SandboxLabels.LINK_PORT)),
                variable("SANDGLASS_DISK_LIMIT_BYTES", volumes.writableBytes(size))));
        variables.addAll(ofCode(identity));
        variables.add(secretVariable("SANDGLASS_LINK_SECRET_KEY", secret, PodSecret.LINK_SECRET_KEY));
        variables.add(secretVariable("SANDGLASS_GATEWAY_PUBLIC_KEY", secret, PodSecret.GATEWAY_PUBLIC_KEY));
        volumes.paths().ifPresent(paths -> variables.add(variable("SANDGLASS_VOLUMES", paths)));
        proxy.ifPresent(address -> variables.addAll(ProxyVariables.of(secret)));
        variables.addAll(PodTrust.variables(settings));
        variables.addAll(JavaOptions.of(settings, proxy));
        variables.addAll(probe.variables());
        if (identity.servesTools()) {
            variables.add(variable("SANDGLASS_SERVES_TOOLS", "true"));
        }
        // Pods of an installation that says nothing of it stay as they are.
        if (settings.maxSessions() != PodSettings.SESSIONS) {
            variables.add(variable("SANDGLASS_MAX_SESSIONS", Integer.toString(settings.maxSessions())));
        }
        return variables;
    }

    /** What a pod has for its code from its start; a seat gets the code's variables with its claim, by the link. */
    private static List<EnvVar> ofCode(PodIdentity identity) {
        return identity.seatLanguages()
                .map(languages -> List.of(
                        variable("SANDGLASS_SEAT", "true"),
                        variable("SANDGLASS_SEAT_LANGUAGES", String.join(",", languages))))
                .orElseGet(() -> List.of(variable("SANDGLASS_ENV", CodeVariables.encoded(identity.environment()))));
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
