package dev.sandglass.operator.pod;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Who a pod is: everything in which two pods of the same {@link PodShape} differ. An incarnation of a Sandbox is one such
 * identity, and a seat of a pool is another.
 *
 * @param metadata name, namespace, labels, annotations and owner of the pod
 * @param subject what its name and its keys derive from
 * @param user uid as which the code runs
 * @param lifetime age at which the node ends the pod, whether or not the operator runs
 * @param environment variables of the code, in their order; empty for a seat, which gets them at its claim
 * @param seatLanguages of a seat: whose kernels it starts ahead; empty for a pod that is none
 */
public record PodIdentity(
        ObjectMeta metadata,
        PodSubject subject,
        long user,
        Duration lifetime,
        Map<String, String> environment,
        Optional<List<String>> seatLanguages) {

    /**
     * Keeps its own copies.
     *
     * @throws IllegalArgumentException if the pod would escape the policies, which select by component, outlive its owner, or
     *     mount the Secret of another pod
     */
    public PodIdentity {
        if (!metadata.getLabels().containsKey(SandboxLabels.COMPONENT)) {
            throw new IllegalArgumentException("A pod without the label " + SandboxLabels.COMPONENT
                    + " is selected by no NetworkPolicy: " + metadata.getName());
        }
        if (metadata.getOwnerReferences().isEmpty()) {
            throw new IllegalArgumentException("A pod without an owner is never collected: " + metadata.getName());
        }
        if (!subject.name().equals(metadata.getName())) {
            throw new IllegalArgumentException(
                    "Pod " + metadata.getName() + " would have the keys of another one: " + subject.name());
        }
        metadata = new ObjectMetaBuilder(metadata).build();
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        seatLanguages = seatLanguages.map(List::copyOf);
    }

    /** Of a pod that is no seat. */
    public PodIdentity(
            ObjectMeta metadata, PodSubject subject, long user, Duration lifetime, Map<String, String> environment) {
        this(metadata, subject, user, lifetime, environment, Optional.empty());
    }

    /** Whether an MCP server runs in the pod, and no code. */
    boolean servesTools() {
        return metadata.getLabels().containsKey(SandboxLabels.TOOL_SERVER);
    }
}
