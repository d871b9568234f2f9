package dev.sandglass.operator.settings;

import java.time.Duration;
import java.util.Optional;

/**
 * What the installation says about every sandbox pod.
 *
 * @param images which images may run, and which does if none is named
 * @param maxLifetime age at which the node ends the pod of a sandbox that says nothing of it
 * @param account as which pods run; it has no rights, and no token of it is mounted
 * @param runtimeClasses which RuntimeClasses pods may have
 * @param users as whom the code runs
 * @param scheduling where they run, and with which requests and priority
 * @param egress how they get out; empty if there is no egress proxy, and then they reach nothing
 * @param authorities what sandboxes trust besides what their image does; empty for no more than that
 * @param maxSessions kernels that a sandbox has at most, 1 to {@value #MOST_SESSIONS}
 */
public record PodSettings(
        ImagePolicy images,
        Duration maxLifetime,
        NamespaceAccount account,
        RuntimeClassPolicy runtimeClasses,
        SandboxUsers users,
        Scheduling scheduling,
        Optional<Egress> egress,
        Optional<TrustedAuthorities> authorities,
        int maxSessions) {

    /** Of a supervisor that is told nothing else. */
    public static final int SESSIONS = 8;

    /** What a supervisor takes at most. */
    public static final int MOST_SESSIONS = 64;

    /** Refuses a number that no supervisor takes. */
    public PodSettings {
        if (maxSessions < 1 || maxSessions > MOST_SESSIONS) {
            throw new IllegalArgumentException(
                    "sessions of a sandbox must be 1 to %d, not %d".formatted(MOST_SESSIONS, maxSessions));
        }
    }

    /** With as many sessions as a supervisor has by itself. */
    public PodSettings(
            ImagePolicy images,
            Duration maxLifetime,
            NamespaceAccount account,
            RuntimeClassPolicy runtimeClasses,
            SandboxUsers users,
            Scheduling scheduling,
            Optional<Egress> egress,
            Optional<TrustedAuthorities> authorities) {
        this(images, maxLifetime, account, runtimeClasses, users, scheduling, egress, authorities, SESSIONS);
    }

    /** Without an egress proxy and without authorities of the site. */
    public PodSettings(
            ImagePolicy images,
            Duration maxLifetime,
            NamespaceAccount account,
            RuntimeClassPolicy runtimeClasses,
            SandboxUsers users,
            Scheduling scheduling) {
        this(images, maxLifetime, account, runtimeClasses, users, scheduling, Optional.empty(), Optional.empty());
    }
}
