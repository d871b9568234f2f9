package dev.sandglass.operator.pod;

import io.fabric8.kubernetes.api.model.Quantity;

/**
 * A workspace that outlives the pod, as the pod mounts it.
 *
 * @param claim name of its PersistentVolumeClaim
 * @param size what it holds at most
 */
public record WorkspaceVolume(String claim, Quantity size) {}
