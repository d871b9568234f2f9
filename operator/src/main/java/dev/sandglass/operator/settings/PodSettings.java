package dev.sandglass.operator.settings;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

/**
 * What the installation says about every sandbox pod.
 *
 * @param images which images may run, and which does if none is named
 * @param requestRatio requests of cpu, memory and disk as a part of their limits, above 0 and at most 1
 * @param maxLifetime age at which the node ends the pod of a sandbox that says nothing of it
 * @param account as which pods run; it has no rights, and no token of it is mounted
 * @param priorityClass empty for the cluster's default
 * @param runtimeClasses which RuntimeClasses pods may have
 * @param users as whom the code runs
 * @param placement on which nodes
 * @param egress how they get out; empty if there is no egress proxy, and then they reach nothing
 * @param authorities what sandboxes trust besides what their image does; empty for no more than that
 */
public record PodSettings(
        ImagePolicy images,
        BigDecimal requestRatio,
        Duration maxLifetime,
        NamespaceAccount account,
        Optional<String> priorityClass,
        RuntimeClassPolicy runtimeClasses,
        SandboxUsers users,
        Placement placement,
        Optional<Egress> egress,
        Optional<TrustedAuthorities> authorities) {

    /** Without an egress proxy and without authorities of the site. */
    public PodSettings(
            ImagePolicy images,
            BigDecimal requestRatio,
            Duration maxLifetime,
            NamespaceAccount account,
            Optional<String> priorityClass,
            RuntimeClassPolicy runtimeClasses,
            SandboxUsers users,
            Placement placement) {
        this(
                images,
                requestRatio,
                maxLifetime,
                account,
                priorityClass,
                runtimeClasses,
                users,
                placement,
                Optional.empty(),
                Optional.empty());
    }

    public PodSettings {
        if (requestRatio.signum() <= 0 || requestRatio.compareTo(BigDecimal.ONE) > 0) {
            throw new IllegalArgumentException("The request ratio must be above 0 and at most 1, not " + requestRatio);
        }
    }
}
