package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Which seats a sandbox may claim instead of waiting for a pod of its own, or why none. Pure. */
public sealed interface Claim {

    /** The namespace has no pool: nobody expects a warm start, and nothing is said or counted. */
    record NoPool() implements Claim {}

    /**
     * The sandbox gets a pod of its own.
     *
     * @param field the first in which it differs from the pool that comes closest; only for {@link ColdReason#NO_MATCH}
     */
    record Cold(ColdReason reason, Optional<String> field) implements Claim {

        /** Without a field. */
        public Cold(ColdReason reason) {
            this(reason, Optional.empty());
        }

        /** As the status has it. */
        public String text() {
            return reason.word() + field.map(name -> ": " + name).orElse("");
        }
    }

    /**
     * The first of these that is still free.
     *
     * @param seats at least one, in the order in which to try them
     */
    record Warm(List<ClaimableSeat> seats) implements Claim {

        /** Keeps its own copy. */
        public Warm {
            seats = List.copyOf(seats);
        }
    }

    /**
     * The claim of a sandbox for its next pod.
     *
     * @param cold the pod that would be made for it
     * @param pools those of its namespace
     * @param podsOf the pods of a pool, by the pool's name, whatever their state
     * @param making what seats are made with now
     */
    static Claim of(
            Sandbox sandbox,
            Pod cold,
            List<KnownPool> pools,
            Function<String, List<Pod>> podsOf,
            SeatPod.Making making,
            Instant now) {
        if (pools.isEmpty()) {
            return new NoPool();
        }
        Optional<ColdReason> never = never(sandbox, making);
        if (never.isPresent()) {
            return new Cold(never.get());
        }
        SandboxSpec wanted = sandbox.wanted();
        PodSettings settings = making.settings();
        List<KnownPool> matching = pools.stream()
                .filter(pool -> pool.difference(wanted, settings).isEmpty())
                .sorted(KnownPool.OLDEST_FIRST)
                .toList();
        if (matching.isEmpty()) {
            return new Cold(
                    ColdReason.NO_MATCH,
                    pools.stream()
                            .flatMap(pool -> pool.difference(wanted, settings).stream())
                            .max(Comparator.naturalOrder())
                            .map(KnownPool.Field::word));
        }
        List<ClaimableSeat> seats = matching.stream()
                .flatMap(pool -> seats(pool, podsOf.apply(pool.name())))
                .filter(seat -> ClaimedPod.outlives(seat.pod(), cold, now))
                .sorted(ClaimableSeat.UP_FIRST)
                .toList();
        return seats.isEmpty() ? new Cold(ColdReason.NO_SEAT) : new Warm(seats);
    }

    /** What no seat has, whatever its pool. */
    private static Optional<ColdReason> never(Sandbox sandbox, SeatPod.Making making) {
        if (ToolServerChild.isOne(sandbox)) {
            return Optional.of(ColdReason.TOOL_SERVER);
        }
        if (!sandbox.wanted().volumes().isEmpty()) {
            return Optional.of(ColdReason.VOLUMES);
        }
        if (sandbox.wanted().workspace() != null) {
            return Optional.of(ColdReason.WORKSPACE);
        }
        return SandboxPod.triesLikeASeat(sandbox, making) ? Optional.empty() : Optional.of(ColdReason.NETWORK);
    }

    /**
     * Those that were made from what the pool and the installation say now. The digest tells, since the caches keep little of
     * a pod's spec (LeanSerialization), and policies let nobody change it.
     */
    private static Stream<ClaimableSeat> seats(KnownPool pool, List<Pod> pods) {
        return pods.stream()
                .flatMap(pod -> ClaimableSeat.of(pod).stream())
                .filter(seat -> SeatPod.hashOf(seat.pod()).equals(pool.hash()))
                .sorted(ClaimableSeat.OLDEST_FIRST);
    }
}
