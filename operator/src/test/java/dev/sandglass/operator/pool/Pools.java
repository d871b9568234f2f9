package dev.sandglass.operator.pool;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.SandboxContainer;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Pools and seats in all states, for tests. */
public final class Pools {

    /** Now. */
    static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

    /** What seats are made from now, unless a test says otherwise. */
    static final String HASH = "now";

    /** An installation that says little. */
    public static final PodSettings SETTINGS = new PodSettings(
            new ImagePolicy("registry.example.com/kernel:1", List.of("registry.example.com/*")),
            Duration.ofHours(8),
            new NamespaceAccount("sandglass-sandbox", List.of()),
            RuntimeClassPolicy.DEFAULT_ONLY,
            SandboxUsers.DEFAULT,
            Scheduling.anywhere(RequestRatios.of("0.25")));

    static final SeatPod.Making MAKING = new SeatPod.Making(SETTINGS, Optional.empty(), NetworkProbe.NONE, "keys");

    private Pools() {}

    /** A pool of the default template. */
    public static SandboxPool pool(String name, int replicas) {
        return pool(name, new SandboxPoolSpec(replicas, null, null));
    }

    /** A pool of the default size with an image. */
    public static SandboxPool pool(String name, int replicas, String image) {
        return pool(name, new SandboxPoolSpec(replicas, new PoolTemplate(image, null, null, null, null), null));
    }

    private static SandboxPool pool(String name, SandboxPoolSpec spec) {
        SandboxPool pool = new SandboxPool();
        pool.getMetadata().setName(name);
        pool.getMetadata().setNamespace("tenant-a");
        pool.getMetadata()
                .setUid(UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8))
                        .toString());
        pool.getMetadata().setGeneration(1L);
        pool.setSpec(spec);
        return pool;
    }

    /** A seat that was made before so long, with the present hash, without a node. */
    static Seat starting(int number, Duration age) {
        return Seat.of(pod(number, age));
    }

    static Seat ready(int number, Duration age) {
        return Seat.of(running(pod(number, age)));
    }

    static Seat unschedulable(int number, Duration age) {
        return Seat.of(pod(number, age).toBuilder()
                .withNewStatus()
                .addNewCondition()
                .withType("PodScheduled")
                .withStatus("False")
                .withReason("Unschedulable")
                .withMessage("0/3 nodes are available")
                .endCondition()
                .endStatus()
                .build());
    }

    static Seat failed(int number, Duration age) {
        return Seat.of(pod(number, age).toBuilder()
                .withNewStatus()
                .withPhase("Failed")
                .withReason("Evicted")
                .withMessage("The node was low on resource: memory")
                .endStatus()
                .build());
    }

    static Seat leaving(int number, Duration age) {
        return Seat.of(pod(number, age).toBuilder()
                .editMetadata()
                .withDeletionTimestamp(NOW.toString())
                .endMetadata()
                .build());
    }

    /** The same with another hash. */
    static Seat outdated(Seat seat) {
        return Seat.of(seat.pod().toBuilder()
                .editMetadata()
                .addToAnnotations(SandboxLabels.POOL_TEMPLATE_HASH, "before")
                .endMetadata()
                .build());
    }

    private static Pod pod(int number, Duration age) {
        return SeatPod.desired(pool("warm", 1), "00000000-0000-0000-0000-%012d".formatted(number), MAKING).toBuilder()
                .editMetadata()
                .addToAnnotations(SandboxLabels.POOL_TEMPLATE_HASH, HASH)
                .withCreationTimestamp(NOW.minus(age).toString())
                .endMetadata()
                .build();
    }

    /** Has a pod run. */
    public static Pod running(Pod pod) {
        return new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Running")
                .withPodIP("10.1.2.3")
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withReady(true)
                .withRestartCount(0)
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    static PoolView view(int replicas, Seat... seats) {
        return new PoolView(
                pool("warm", replicas),
                List.of(seats),
                HASH,
                Optional.empty(),
                Optional.empty(),
                PoolMemory.NONE.seen(List.of(seats), HASH, NOW),
                Optional.empty(),
                Optional.empty(),
                NOW);
    }
}
