package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodIdentity;
import dev.sandglass.operator.pod.PodShape;
import dev.sandglass.operator.pod.PodSize;
import dev.sandglass.operator.pod.PodSubject;
import dev.sandglass.operator.pod.PodVolumes;
import dev.sandglass.operator.pod.ProxyAccess;
import dev.sandglass.operator.pod.WorkspaceVolume;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The pod of a Sandbox: which shape its spec asks for, and who each of its incarnations is. */
public final class SandboxPod {

    private static final Predicate<String> WHY_COLD =
            Pattern.compile("[A-Za-z]{1,32}(: [A-Za-z]{1,32})?").asMatchPredicate();

    private SandboxPod() {}

    /**
     * The pod of one incarnation.
     *
     * @param workspace the claim of its workspace, which says whose files there are; one that the spec does not want is ignored
     * @param proxy empty if the installation has no egress proxy
     * @param probe what every pod tries in vain
     */
    public static Pod desired(
            Sandbox sandbox,
            int incarnation,
            PodSettings settings,
            Optional<PersistentVolumeClaim> workspace,
            Optional<ProxyAccess> proxy,
            NetworkProbe probe) {
        return shape(sandbox, settings, proxy.map(ProxyAccess::address), probe)
                .of(identity(sandbox, incarnation, settings, workspace));
    }

    /** What the name and the keys of an incarnation derive from. */
    public static PodSubject subject(Sandbox sandbox, int incarnation) {
        return new PodSubject(sandbox.getMetadata().getUid(), incarnation);
    }

    static PodShape shape(Sandbox sandbox, PodSettings settings, Optional<String> proxy, NetworkProbe probe) {
        SandboxSpec spec = sandbox.wanted();
        return new PodShape(
                spec.image(),
                new PodSize(spec.memory(), spec.cpus(), spec.disk()),
                spec.runtimeClassName(),
                new PodVolumes(
                        spec.volumes(),
                        Optional.ofNullable(spec.workspace())
                                .map(workspace ->
                                        new WorkspaceVolume(ChildNames.workspace(sandbox), workspace.size()))),
                settings,
                proxy,
                probe.beside(opened(sandbox, settings)));
    }

    private static Set<Integer> opened(Sandbox sandbox, PodSettings settings) {
        return settings.egress()
                .map(egress -> EgressPeers.directPorts(sandbox, egress))
                .orElse(Set.of());
    }

    /** Whether a sandbox's pod tries in vain what a seat tries; its list may open some of these addresses. */
    public static boolean triesLikeASeat(Sandbox sandbox, SeatPod.Making making) {
        return making.probe().beside(opened(sandbox, making.settings())).equals(making.probe());
    }

    static PodIdentity identity(
            Sandbox sandbox, int incarnation, PodSettings settings, Optional<PersistentVolumeClaim> workspace) {
        PodSubject subject = subject(sandbox, incarnation);
        return new PodIdentity(
                ChildMetadata.ofIncarnation(sandbox, incarnation)
                        .edit()
                        .addToAnnotations(SandboxLabels.POD_SPEC_HASH, SpecHash.of(sandbox.wanted()))
                        .addToAnnotations(ownLifetime(sandbox))
                        .addToLabels(ofToolServer(sandbox))
                        // Its memory is the product: a node is not emptied to save money while it is in use.
                        .addToAnnotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")
                        .addToAnnotations("karpenter.sh/do-not-disrupt", "true")
                        .build(),
                subject,
                settings.users()
                        .of(
                                subject.id(),
                                workspace.filter(claim -> sandbox.wanted().workspace() != null)),
                TimeLimit.MAX_LIFETIME.in(sandbox.wanted()).orElse(settings.maxLifetime()),
                sandbox.wanted().environment());
    }

    /** Without it the chart's policy lets no pod mount a Secret that is for tool servers. */
    private static Map<String, String> ofToolServer(Sandbox sandbox) {
        return ToolServerChild.isOne(sandbox)
                ? ToolServerChild.server(sandbox)
                        .map(name -> Map.of(SandboxLabels.TOOL_SERVER, name))
                        .orElse(Map.of())
                : Map.of();
    }

    /**
     * The same pod with the reason why the sandbox did not claim a seat instead.
     *
     * @param why a word, or two with a colon between them
     */
    public static Pod coldBecause(Pod desired, String why) {
        return new PodBuilder(desired)
                .editMetadata()
                .addToAnnotations(SandboxLabels.COLD_START, why)
                .endMetadata()
                .build();
    }

    /** Why the sandbox did not claim a seat instead; empty where no pool was, and for what was no such reason. */
    public static Optional<String> whyCold(Pod pod) {
        return Optional.ofNullable(pod.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.COLD_START))
                .filter(WHY_COLD);
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
}
