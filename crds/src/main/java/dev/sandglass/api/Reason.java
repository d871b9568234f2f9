package dev.sandglass.api;

import java.util.Arrays;
import java.util.Optional;

/** The reasons that conditions of a sandbox carry. Each constant says on which condition it stands and what to do. */
public enum Reason {

    /** Ready=True: the container runs and has an address. */
    RUNNING("Running"),

    /** Ready=True: as Running, but the container was restarted; the message says why, and variables were lost. */
    RESTARTED("Restarted"),

    /** Ready=True: the spec was edited since the pod started; the change applies at the next start. */
    UPDATE_PENDING("UpdatePending"),

    /**
     * Ready=False: the pod was made and its container is on the way, or the pod waits for a former workspace to go.
     * Suspended=False: it is wanted again.
     */
    STARTING("Starting"),

    /** Ready=False: the image is not on the installation's list. Final until the spec or the list changes. */
    IMAGE_FORBIDDEN("ImageForbidden"),

    /** Ready=False: the installation forces another RuntimeClass. Final until the spec or the installation changes. */
    RUNTIME_CLASS_FORBIDDEN("RuntimeClassForbidden"),

    /** Ready=False: the node cannot pull the image. Kubernetes keeps trying. */
    IMAGE_PULL_FAILED("ImagePullFailed"),

    /**
     * Ready=False: the image has no Python or no supervisor that could run in it; the message says what is missing. Final
     * until the spec changes; a stop and a start try the image again.
     */
    IMAGE_UNUSABLE("ImageUnusable"),

    /** Ready=False: no node has room for the pod or may take it. Kubernetes keeps trying. */
    UNSCHEDULABLE("Unschedulable"),

    /** Ready=False: the namespace's ResourceQuota is used up. Tried again every few seconds. */
    QUOTA_EXCEEDED("QuotaExceeded"),

    /** Ready=False: the API server refused the pod for another reason; the message is its answer. */
    POD_REFUSED("PodRefused"),

    /** Ready=False: the spec breaks a rule that the schema could not check. Final until the spec changes. */
    INVALID_SPEC("InvalidSpec"),

    /** Ready=False: a volume that the spec names does not exist or may not be used. Looked for every few seconds. */
    VOLUME_MISSING("VolumeMissing"),

    /** Ready=False: the container was ended for using more memory than its limit, and starts again. */
    OOM_KILLED("OOMKilled"),

    /** Ready=False: the node put the pod out, for want of memory or disk or by order. Starts again as a new one. */
    EVICTED("Evicted"),

    /** Ready=False: the container ended by itself. Starts again. */
    CRASHED("Crashed"),

    /** Ready=False: the node is gone or silent. Starts again on another one. */
    NODE_LOST("NodeLost"),

    /** Suspended=True and Ready=False: somebody set {@code spec.suspended}. */
    REQUESTED("Requested"),

    /** Suspended=True and Ready=False: nobody used the sandbox for the idle time. Use starts it again. */
    IDLE("Idle"),

    /** Suspended=True and Ready=False: the pod reached its maximum age. Use starts it again. */
    MAX_LIFETIME("MaxLifetime"),

    /** NetworkReady=True: the policies are in place. */
    POLICIES_APPLIED("PoliciesApplied"),

    /**
     * NetworkReady=True: the policies are in place, but not everything in {@code spec.allowedDomains} is in force; the
     * message says what, and why.
     */
    DOMAINS_IGNORED("DomainsIgnored"),

    /** Ready=Unknown: the operator failed to look after the sandbox and tries again. */
    OPERATOR_ERROR("OperatorError");

    private final String value;

    Reason(String value) {
        this.value = value;
    }

    /** The {@code reason} as it stands in the resource. */
    public String value() {
        return value;
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
