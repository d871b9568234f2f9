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
 */
public record PodSettings(
        ImagePolicy images,
        Duration maxLifetime,
        NamespaceAccount account,
        RuntimeClassPolicy runtimeClasses,
        SandboxUsers users,
        Scheduling scheduling,
        Optional<Egress> egress,
        Optional<TrustedAuthorities> authorities) {

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
