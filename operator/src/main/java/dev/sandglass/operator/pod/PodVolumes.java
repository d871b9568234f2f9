package dev.sandglass.operator.pod;

import dev.sandglass.api.Volume;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Everything that is mounted in a pod besides the trusted authorities: its scratch places, its workspace, and what comes
 * from outside.
 *
 * @param outside files from outside, and further scratch places
 * @param workspace empty for a workspace that ends with the pod
 */
public record PodVolumes(List<Volume> outside, Optional<WorkspaceVolume> workspace) {

    /** Keeps the names that users give apart from ours. */
    private static final String PREFIX = "vol-";

    /** Keeps its own copy. */
    public PodVolumes {
        outside = List.copyOf(outside);
    }

    List<io.fabric8.kubernetes.api.model.Volume> volumes(PodSize size) {
        return Stream.concat(
                        ScratchVolumes.volumes(size.disk(), size.memory()).stream()
                                .map(volume -> volume.getName().equals(ScratchVolumes.WORKSPACE_VOLUME)
                                        ? workspace.map(PodVolumes::kept).orElse(volume)
                                        : volume),
                        outside.stream().map(volume -> of(volume, size.disk())))
                .toList();
    }

    List<VolumeMount> mounts() {
        return Stream.concat(ScratchVolumes.mounts().stream(), outside.stream().map(PodVolumes::mount))
                .toList();
    }

    /** The mount paths as the supervisor takes them; empty if there is nothing besides the workspace. */
    Optional<String> paths() {
        return Optional.of(outside.stream().map(Volume::mountPath).collect(Collectors.joining(":")))
                .filter(paths -> !paths.isEmpty());
    }

    /** Most that scratch places and workspace hold together, in bytes. */
    String writableBytes(PodSize size) {
        BigDecimal kept =
                workspace.map(volume -> volume.size().getNumericalAmount()).orElse(BigDecimal.ZERO);
        return size.disk().getNumericalAmount().add(kept).toBigInteger().toString();
    }

    private static io.fabric8.kubernetes.api.model.Volume kept(WorkspaceVolume workspace) {
        return new VolumeBuilder()
                .withName(ScratchVolumes.WORKSPACE_VOLUME)
                .withNewPersistentVolumeClaim()
                .withClaimName(workspace.claim())
                .endPersistentVolumeClaim()
                .build();
    }

    private static io.fabric8.kubernetes.api.model.Volume of(Volume volume, Quantity disk) {
        VolumeBuilder builder = new VolumeBuilder().withName(PREFIX + volume.name());
        if (volume.persistentVolumeClaim() != null) {
            builder.withNewPersistentVolumeClaim()
                    .withClaimName(volume.persistentVolumeClaim().claimName())
                    // Said here too, so that the kubelet does not give other owners' files to our group.
                    .withReadOnly(volume.onlyReads() ? true : null)
                    .endPersistentVolumeClaim();
        } else if (volume.configMap() != null) {
            builder.withNewConfigMap().withName(volume.configMap().name()).endConfigMap();
        } else if (volume.secret() != null) {
            builder.withNewSecret().withSecretName(volume.secret().secretName()).endSecret();
        } else if (volume.emptyDir() != null) {
            String limit = volume.emptyDir().sizeLimit();
            builder.withNewEmptyDir()
                    .withSizeLimit(limit == null ? disk : new Quantity(limit))
                    .endEmptyDir();
        }
        return builder.build();
    }

    private static VolumeMount mount(Volume volume) {
        return new VolumeMountBuilder()
                .withName(PREFIX + volume.name())
                .withMountPath(volume.mountPath())
                .withReadOnly(volume.onlyReads() ? true : null)
                .build();
    }
}
