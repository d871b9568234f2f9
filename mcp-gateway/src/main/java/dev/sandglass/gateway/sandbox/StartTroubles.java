package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.Reason;

/** Which reasons of the Ready condition mean that a start is in trouble rather than under way. Pure. */
final class StartTroubles {

    private StartTroubles() {}

    static boolean isTrouble(Reason reason) {
        return switch (reason) {
            case IMAGE_FORBIDDEN,
                    RUNTIME_CLASS_FORBIDDEN,
                    IMAGE_PULL_FAILED,
                    IMAGE_UNUSABLE,
                    UNSCHEDULABLE,
                    QUOTA_EXCEEDED,
                    POD_REFUSED,
                    INVALID_SPEC,
                    VOLUME_MISSING,
                    OOM_KILLED,
                    CRASHED -> true;
            case RUNNING,
                    RESTARTED,
                    UPDATE_PENDING,
                    STARTING,
                    EVICTED,
                    NODE_LOST,
                    REQUESTED,
                    IDLE,
                    MAX_LIFETIME,
                    POLICIES_APPLIED,
                    DOMAINS_IGNORED,
                    OPERATOR_ERROR -> false;
        };
    }
}
