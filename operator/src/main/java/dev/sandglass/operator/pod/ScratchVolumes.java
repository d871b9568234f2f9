package dev.sandglass.operator.pod;

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

    /**
     * The places of a sandbox.
     *
     * @param disk most that each place on the node's disk holds
     * @param memory most that shared memory holds: it is part of the sandbox's memory, so it needs no smaller bound
     */
    static List<Volume> volumes(Quantity disk, Quantity memory) {
        return List.of(
                scratch(WORKSPACE_VOLUME, disk),
                scratch("tmp", disk),
                inMemory("run", SOCKETS_SIZE),
                inMemory("shm", memory));
    }

    static List<VolumeMount> mounts() {
        return List.of(
                mount(WORKSPACE_VOLUME, WORKSPACE),
                mount("tmp", "/tmp"),
                mount("run", "/run/sandglass"),
                mount("shm", "/dev/shm"));
    }

    private static Volume inMemory(String name, Quantity size) {
        return new VolumeBuilder()
                .withName(name)
                .withNewEmptyDir()
                .withMedium("Memory")
                .withSizeLimit(size)
                .endEmptyDir()
                .build();
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
