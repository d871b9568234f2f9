package dev.sandglass.operator.settings;

import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;

/**
 * On which nodes sandboxes may run: the administrator decides it, not the author of a sandbox.
 *
 * @param nodeSelector labels that a node must carry
 * @param tolerations taints that a node may have, besides those of a node that is lost
 */
public record Placement(Map<String, String> nodeSelector, List<Toleration> tolerations) {

    /** Every node without taints. */
    public static final Placement ANYWHERE = new Placement(Map.of(), List.of());

    public Placement {
        nodeSelector = Map.copyOf(nodeSelector);
        tolerations = List.copyOf(tolerations);
    }
}
