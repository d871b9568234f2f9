package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.child.SeatFit;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.ArrayList;
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
     */
    static Claim of(
            Sandbox sandbox,
            Pod cold,
            List<KnownPool> pools,
            Function<String, List<Pod>> podsOf,
            PodSettings settings,
            Instant now) {
        if (pools.isEmpty()) {
            return new NoPool();
        }
        Optional<ColdReason> never = never(sandbox);
        if (never.isPresent()) {
            return new Cold(never.get());
        }
        SandboxSpec wanted = sandbox.wanted();
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
        return among(matching.stream().flatMap(pool -> seats(podsOf.apply(pool.name()))), cold, now);
    }

    /** What no seat has, whatever its pool. */
    private static Optional<ColdReason> never(Sandbox sandbox) {
        if (ToolServerChild.isOne(sandbox)) {
            return Optional.of(ColdReason.TOOL_SERVER);
        }
        if (!sandbox.wanted().volumes().isEmpty()) {
            return Optional.of(ColdReason.VOLUMES);
        }
        return sandbox.wanted().workspace() == null ? Optional.empty() : Optional.of(ColdReason.WORKSPACE);
    }

    private static Stream<ClaimableSeat> seats(List<Pod> pods) {
        return pods.stream().flatMap(pod -> ClaimableSeat.of(pod).stream()).sorted(ClaimableSeat.OLDEST_FIRST);
    }

    private static Claim among(Stream<ClaimableSeat> running, Pod cold, Instant now) {
        List<ClaimableSeat> fitting = new ArrayList<>();
        boolean otherProbe = false;
        for (ClaimableSeat seat : running.toList()) {
            SeatFit fit = SeatFit.of(seat.pod(), cold, now);
            otherProbe |= fit == SeatFit.OTHER_PROBE;
            if (fit == SeatFit.FITS) {
                fitting.add(seat);
            }
        }
        if (!fitting.isEmpty()) {
            return new Warm(fitting);
        }
        return new Cold(otherProbe ? ColdReason.NETWORK : ColdReason.NO_SEAT);
    }
}
