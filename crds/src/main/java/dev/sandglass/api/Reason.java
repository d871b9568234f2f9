package dev.sandglass.api;

import java.util.Arrays;
import java.util.Optional;

/** The reasons that conditions of a sandbox carry; {@link #meaning()} says of each on which it stands and what to do. */
public enum Reason {
    RUNNING("Running", "Ready=True: the container runs and has an address."),

    RESTARTED(
            "Restarted",
            "Ready=True: the container runs again after a restart that lost the variables; the"
                    + " message says why it restarted."),

    UPDATE_PENDING(
            "UpdatePending",
            "Ready=True: the spec was edited after the pod started; the change applies at the next"
                    + " start of the pod."),

    STARTING(
            "Starting",
            "Ready=False: the pod exists and its container is starting, or the operator waits until"
                    + " an earlier workspace is gone, or until the Sandbox of a tool server has the settings of its"
                    + " SandboxToolServer. Suspended=False: the sandbox runs again."),

    IMAGE_FORBIDDEN(
            "ImageForbidden",
            "Ready=False: the image is not on the installation's list of allowed images. Final until"
                    + " the spec or the list changes."),

    RUNTIME_CLASS_FORBIDDEN(
            "RuntimeClassForbidden",
            "Ready=False: the RuntimeClass is not on the installation's list, or the installation"
                    + " forces another one. Final until the spec or the installation changes."),

    IMAGE_PULL_FAILED(
            "ImagePullFailed",
            "Ready=False: the node cannot pull the image. Kubernetes retries until the pod reaches" + " maxLifetime."),

    IMAGE_UNUSABLE(
            "ImageUnusable",
            "Ready=False: the image has no Python or no supervisor that can run in it; the message"
                    + " says what is missing. Final until the spec changes; stopping and starting the sandbox"
                    + " tries the image again."),

    UNSCHEDULABLE(
            "Unschedulable",
            "Ready=False: no node has room for the pod or may take it, and Kubernetes retries until"
                    + " the pod reaches maxLifetime; or the chosen node rejected the pod, and the operator"
                    + " creates another."),

    QUOTA_EXCEEDED(
            "QuotaExceeded",
            "Ready=False: the namespace's ResourceQuota has no room for the pod. NetworkReady=False:"
                    + " it has no room for the policies. The operator retries after 10 s, then less and less"
                    + " often, at last every 5 minutes."),

    POD_REFUSED(
            "PodRefused",
            "Ready=False: the API server refused the pod for another reason; the message has its"
                    + " answer. With NetworkReady=False: someone altered the policy that isolates the"
                    + " namespace's sandboxes, and the operator may not restore it; the message names the"
                    + " policy, and the operator creates no pod until the policy is repaired."),

    INVALID_SPEC(
            "InvalidSpec",
            "Ready=False: the spec breaks a rule that the schema cannot check; the message names it."
                    + " Final until the spec changes."),

    VOLUME_MISSING(
            "VolumeMissing",
            "Ready=False: a volume that the spec names, or a Secret that a tool server uses, does not exist"
                    + " or may not be used, or the node cannot mount one. The operator looks again after 10 s, then less and less often, at"
                    + " last every 5 minutes."),

    OOM_KILLED(
            "OOMKilled",
            "Ready=False: Linux killed the container because it used more memory than its limit. It"
                    + " starts again."),

    EVICTED(
            "Evicted",
            "Ready=False: the node evicted the pod, because memory or disk ran out or on an"
                    + " administrator's order. The operator creates a new pod."),

    CRASHED("Crashed", "Ready=False: the container exited by itself. It starts again."),

    NODE_LOST(
            "NodeLost",
            "Ready=False: the node is gone or does not answer. The operator creates a new pod on" + " another node."),

    REQUESTED("Requested", "Suspended=True and Ready=False: spec.suspended is true."),

    IDLE(
            "Idle",
            "Suspended=True and Ready=False: the sandbox was not used for its idle timeout. The next"
                    + " use starts it again."),

    MAX_LIFETIME(
            "MaxLifetime",
            "Suspended=True and Ready=False: the pod reached its maximum lifetime, or did not start"
                    + " within it; then the message has the last cause. The next use starts the sandbox again."),

    POLICIES_APPLIED("PoliciesApplied", "NetworkReady=True: the policies are in place."),

    DOMAINS_IGNORED(
            "DomainsIgnored",
            "NetworkReady=True: the policies are in place, but a part of spec.allowedDomains has no"
                    + " effect; the message says which, and why."),

    OPERATOR_ERROR(
            "OperatorError",
            "Ready=Unknown: the operator failed to process the sandbox and tries again."
                    + " NetworkReady=False: the operator failed to apply the policies.");

    private final String value;
    private final String meaning;

    Reason(String value, String meaning) {
        this.value = value;
        this.meaning = meaning;
    }

    /** The {@code reason} as it stands in the resource. */
    public String value() {
        return value;
    }

    /** On which condition it stands, what happened, and what comes next; for the reference of the API. */
    public String meaning() {
        return meaning;
    }

    /** The constant of a condition's {@code reason}; empty for one that a later version wrote. */
    public static Optional<Reason> of(String value) {
        return Arrays.stream(values())
                .filter(reason -> reason.value.equals(value))
                .findFirst();
    }

    /**
     * Whether waiting is pointless: nothing changes until the resource or the installation is edited. A caller that waits
     * for a start should give up and report the condition's message.
     */
    public boolean isFinal() {
        return this == IMAGE_FORBIDDEN
                || this == IMAGE_UNUSABLE
                || this == RUNTIME_CLASS_FORBIDDEN
                || this == POD_REFUSED
                || this == INVALID_SPEC;
    }
}
