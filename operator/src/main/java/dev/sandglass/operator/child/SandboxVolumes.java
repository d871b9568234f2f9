package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
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

/** Everything that is mounted in a sandbox's pod: its own scratch places, its workspace, and what the spec names. */
final class SandboxVolumes {

    /** Keeps the names that users give apart from ours. */
    private static final String PREFIX = "vol-";

    private SandboxVolumes() {}

    static List<io.fabric8.kubernetes.api.model.Volume> volumes(Sandbox sandbox) {
        SandboxSpec spec = sandbox.wanted();
        return Stream.concat(
                        ScratchVolumes.volumes(spec.disk()).stream()
                                .map(volume -> spec.workspace() != null
                                                && volume.getName().equals(ScratchVolumes.WORKSPACE_VOLUME)
                                        ? workspace(sandbox)
                                        : volume),
                        spec.volumes().stream().map(volume -> of(volume, spec.disk())))
                .toList();
    }

    static List<VolumeMount> mounts(Sandbox sandbox) {
        return Stream.concat(
                        ScratchVolumes.mounts().stream(),
                        sandbox.wanted().volumes().stream().map(SandboxVolumes::mount))
                .toList();
    }

    /** The mount paths as the supervisor takes them; empty if there is nothing besides the workspace. */
    static Optional<String> paths(Sandbox sandbox) {
        return Optional.of(sandbox.wanted().volumes().stream()
                        .map(Volume::mountPath)
                        .collect(Collectors.joining(":")))
                .filter(paths -> !paths.isEmpty());
    }

    /** Most that scratch places and workspace hold together, in bytes. */
    static String writableBytes(SandboxSpec spec) {
        BigDecimal workspace = spec.workspace() == null
                ? BigDecimal.ZERO
                : spec.workspace().size().getNumericalAmount();
        return spec.disk().getNumericalAmount().add(workspace).toBigInteger().toString();
    }

    private static io.fabric8.kubernetes.api.model.Volume workspace(Sandbox sandbox) {
        return new VolumeBuilder()
                .withName(ScratchVolumes.WORKSPACE_VOLUME)
                .withNewPersistentVolumeClaim()
                .withClaimName(ChildNames.workspace(sandbox))
                .endPersistentVolumeClaim()
                .build();
    }

    private static io.fabric8.kubernetes.api.model.Volume of(Volume volume, Quantity disk) {
        VolumeBuilder builder = new VolumeBuilder().withName(PREFIX + volume.name());
        if (volume.persistentVolumeClaim() != null) {
            builder.withNewPersistentVolumeClaim()
                    .withClaimName(volume.persistentVolumeClaim().claimName())
                    // Said here too, so that the kubelet does not give somebody else's files to our group.
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
