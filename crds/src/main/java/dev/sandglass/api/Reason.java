package dev.sandglass.api;

import java.util.Arrays;
import java.util.Optional;

/** The reasons that conditions of a sandbox carry; {@link #meaning()} says of each on which it stands and what to do. */
public enum Reason {
    RUNNING("Running", "Ready=True: the container runs and has an address."),

    RESTARTED(
            "Restarted",
            "Ready=True: as Running, but the container was restarted; the message says why, "
                    + "and variables were lost."),

    UPDATE_PENDING(
            "UpdatePending",
            "Ready=True: the spec was edited since the pod started; the change applies at the next start."),

    STARTING(
            "Starting",
            "Ready=False: the pod was made and its container is on the way, or the pod waits "
                    + "for a former workspace to go. Suspended=False: it is wanted again."),

    IMAGE_FORBIDDEN(
            "ImageForbidden",
            "Ready=False: the image is not on the installation's list. Final until the spec or the list changes."),

    RUNTIME_CLASS_FORBIDDEN(
            "RuntimeClassForbidden",
            "Ready=False: the RuntimeClass is not on the installation's list, or the installation "
                    + "forces another one. Final until the spec or the installation changes."),

    IMAGE_PULL_FAILED(
            "ImagePullFailed",
            "Ready=False: the node cannot pull the image. Kubernetes keeps trying until the pod is as "
                    + "old as maxLifetime."),

    IMAGE_UNUSABLE(
            "ImageUnusable",
            "Ready=False: the image has no Python or no supervisor that could run in it; the "
                    + "message says what is missing. Final until the spec changes; a stop and a start "
                    + "try the image again."),

    UNSCHEDULABLE(
            "Unschedulable",
            "Ready=False: no node has room for the pod or may take it, and Kubernetes keeps trying until it is "
                    + "as old as maxLifetime; or its node did not let it in, and another pod follows."),

    QUOTA_EXCEEDED(
            "QuotaExceeded",
            "Ready=False: the namespace's ResourceQuota is used up; NetworkReady=False: it is for the "
                    + "policies. Tried again after 10 s, and the more seldom the longer it lasts, every 5 minutes at last."),

    POD_REFUSED(
            "PodRefused",
            "Ready=False: the API server refused the pod for another reason; the message is its answer. With "
                    + "NetworkReady=False: the policy that cuts off the namespace's sandboxes was altered and is not the "
                    + "operator's to restore; the message names it, and no pod is made until it is mended."),

    INVALID_SPEC(
            "InvalidSpec",
            "Ready=False: the spec breaks a rule that the schema could not check. Final until the spec changes."),

    VOLUME_MISSING(
            "VolumeMissing",
            "Ready=False: a volume that the spec names does not exist or may not be used, or "
                    + "the node cannot mount one. Looked for after 10 s, and the more seldom the longer it lasts, every "
                    + "5 minutes at last."),

    OOM_KILLED(
            "OOMKilled",
            "Ready=False: the container was ended for using more memory than its limit, and starts again."),

    EVICTED(
            "Evicted",
            "Ready=False: the node put the pod out, for want of memory or disk or by order. "
                    + "Starts again as a new one."),

    CRASHED("Crashed", "Ready=False: the container ended by itself. Starts again."),

    NODE_LOST("NodeLost", "Ready=False: the node is gone or silent. Starts again on another one."),

    REQUESTED("Requested", "Suspended=True and Ready=False: somebody set spec.suspended."),

    IDLE("Idle", "Suspended=True and Ready=False: nobody used the sandbox for the idle time. Use starts it again."),

    MAX_LIFETIME(
            "MaxLifetime",
            "Suspended=True and Ready=False: the pod reached its maximum lifetime, or did not start within it, and then "
                    + "the message has the last cause. Use starts it again."),

    POLICIES_APPLIED("PoliciesApplied", "NetworkReady=True: the policies are in place."),

    DOMAINS_IGNORED(
            "DomainsIgnored",
            "NetworkReady=True: the policies are in place, but not everything in "
                    + "spec.allowedDomains is in force; the message says what, and why."),

    OPERATOR_ERROR(
            "OperatorError",
            "Ready=Unknown: the operator failed to look after the sandbox and tries again. "
                    + "NetworkReady=False: the policies are not in place, and it failed to make them.");

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
     * Whether waiting is pointless: nothing changes until somebody edits the resource or the installation. Whoever waits
     * for a start should give up and tell the condition's message.
     */
    public boolean isFinal() {
        return this == IMAGE_FORBIDDEN
                || this == IMAGE_UNUSABLE
                || this == RUNTIME_CLASS_FORBIDDEN
                || this == POD_REFUSED
                || this == INVALID_SPEC;
    }
}
