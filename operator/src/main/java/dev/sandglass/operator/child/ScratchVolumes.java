package dev.sandglass.operator.child;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;

/** The places a sandbox can write to; its root file system is read-only. */
final class ScratchVolumes {

    /** Name of the volume that is mounted at {@link #WORKSPACE}. */
    static final String WORKSPACE_VOLUME = "workspace";

    /** Home and working directory of the code. */
    static final String WORKSPACE = "/workspace";

    /** Sockets between supervisor and kernels need a few inodes; in memory, a full one is an error and no eviction. */
    private static final Quantity SOCKETS_SIZE = new Quantity("16Mi");

    private ScratchVolumes() {}

    static List<Volume> volumes(Quantity disk) {
        return List.of(
                scratch(WORKSPACE_VOLUME, disk),
                scratch("tmp", disk),
                new VolumeBuilder()
                        .withName("run")
                        .withNewEmptyDir()
                        .withMedium("Memory")
                        .withSizeLimit(SOCKETS_SIZE)
                        .endEmptyDir()
                        .build());
    }

    static List<VolumeMount> mounts() {
        return List.of(mount(WORKSPACE_VOLUME, WORKSPACE), mount("tmp", "/tmp"), mount("run", "/run/sandglass"));
    }

    private static Volume scratch(String name, Quantity size) {
        return new VolumeBuilder()
                .withName(name)
                .withNewEmptyDir()
                .withSizeLimit(size)
                .endEmptyDir()
                .build();
    }

    private static VolumeMount mount(String name, String path) {
        return new VolumeMountBuilder().withName(name).withMountPath(path).build();
    }
}
