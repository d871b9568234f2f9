package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.child.WorkspaceClaim;
import dev.sandglass.operator.pod.SecretFiles;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Everything that was seen of a sandbox, at one time.
 *
 * @param pod the pod with the highest incarnation that belongs to this sandbox, whatever its state
 * @param activity the Lease in which the gateway records use
 * @param refusal why no pod would be made now, be it by our rules or by the API server's answer
 * @param workspace the claim of a workspace that outlives the pod, if there is one, whether or not it is wanted by now
 * @param ignoredDomains says what of {@code spec.allowedDomains} is not in force, and why; empty if all of it is
 * @param blocker what keeps the node from starting the pod, as far as that is known
 * @param secrets what a pod that is made now mounts of Secrets for tool servers
 * @param networkReady whether the policies are in place that shut the sandbox in and let it do what it needs
 */
public record Observed(
        Sandbox sandbox,
        Optional<Pod> pod,
        Optional<Lease> activity,
        Optional<PodRefusal> refusal,
        Optional<PersistentVolumeClaim> workspace,
        Optional<String> ignoredDomains,
        Optional<StartBlocker> blocker,
        SecretFiles secrets,
        boolean networkReady,
        Instant now) {

    /** Of a sandbox whose list is in force and whose workspace ends with its pod. */
    public Observed(
            Sandbox sandbox,
            Optional<Pod> pod,
            Optional<Lease> activity,
            Optional<PodRefusal> refusal,
            boolean networkReady,
            Instant now) {
        this(
                sandbox,
                pod,
                activity,
                refusal,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                SecretFiles.NONE,
                networkReady,
                now);
    }

    SandboxStatus status() {
        return sandbox.observed();
    }

    /** Number of the newest incarnation in the status; 0 if none. */
    int recordedIncarnation() {
        return Optional.ofNullable(status().incarnation()).orElse(0);
    }

    /** Whether a user asked to end this suspension; see {@link SandboxLabels#WAKE}. */
    boolean isWoken() {
        Map<String, String> annotations = sandbox.getMetadata().getAnnotations();
        String sleep = status().suspendedAt();
        return sleep != null && annotations != null && sleep.equals(annotations.get(SandboxLabels.WAKE));
    }

    /** A pod that is not on its way out. */
    public Optional<Pod> livePod() {
        return pod.filter(found -> found.getMetadata().getDeletionTimestamp() == null);
    }

    /** Whether there are, or will be, files that would go with the sandbox, also if its next pod shall not have them. */
    boolean keepsFiles() {
        return sandbox.wanted().workspace() != null
                || workspace
                        .filter(claim -> WorkspaceClaim.goesWith(sandbox, claim))
                        .isPresent();
    }

    /** Whether it stays however long it sleeps: for its files, or because a tool server would only make it again. */
    boolean isNeverForgotten() {
        return keepsFiles() || ToolServerChild.isOne(sandbox);
    }

    /** The number a pod carries; 0 if its label was tampered with. */
    public static int incarnationOf(Pod pod) {
        String label = pod.getMetadata().getLabels().getOrDefault(SandboxLabels.INCARNATION, "");
        return label.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(label) : 0;
    }

    /** Whether the node looks for the pod's keys in vain; it says the same of little else. */
    public static boolean lacksKeys(Pod pod) {
        return PodState.waiting(pod)
                .filter("CreateContainerConfigError"::equals)
                .isPresent();
    }

    /** The same after the operator acted. */
    public Observed after(Optional<Pod> podNow, Optional<PodRefusal> refusalNow, boolean networkReadyNow) {
        return new Observed(
                sandbox,
                podNow,
                activity,
                refusalNow,
                workspace,
                ignoredDomains,
                blocker,
                secrets,
                networkReadyNow,
                now);
    }

    /** The same with another claim. */
    public Observed withWorkspace(Optional<PersistentVolumeClaim> claim) {
        return new Observed(
                sandbox, pod, activity, refusal, claim, ignoredDomains, blocker, secrets, networkReady, now);
    }

    /** The same after the Events of its pod were read, or could not be: then the former report still holds. */
    public Observed withBlocker(Optional<List<Event>> events) {
        Optional<StartBlocker> found = events.map(StartBlocker::in).orElseGet(() -> StartBlocker.told(this));
        return new Observed(
                sandbox, pod, activity, refusal, workspace, ignoredDomains, found, secrets, networkReady, now);
    }
}
