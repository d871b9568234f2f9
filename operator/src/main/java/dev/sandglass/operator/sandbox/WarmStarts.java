package dev.sandglass.operator.sandbox;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.lifecycle.Claim;
import dev.sandglass.operator.lifecycle.ColdReason;
import dev.sandglass.operator.lifecycle.KnownPool;
import dev.sandglass.operator.metrics.ClaimMeter;
import dev.sandglass.operator.watch.SandboxWatches;
import dev.sandglass.operator.write.SeatClaims;
import dev.sandglass.operator.write.SeatWriter;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Gives a sandbox that needs a pod a seat of a pool, where one fits. Without a pool in its namespace it costs nothing. */
public final class WarmStarts {

    private final SandboxView view;
    private final SeatClaims claims;
    private final SeatWriter seats;
    private final ClaimMeter meter;

    public WarmStarts(SandboxView view, SeatClaims claims, SeatWriter seats, ClaimMeter meter) {
        this.view = view;
        this.claims = claims;
        this.seats = seats;
        this.meter = meter;
    }

    /** What a sandbox starts with. */
    sealed interface Start {

        /** A pod that is there. */
        record There(Pod pod) implements Start {}

        /**
         * A pod of its own.
         *
         * @param why empty where the namespace has no pool
         */
        record Cold(Optional<Claim.Cold> why) implements Start {}
    }

    /**
     * Claims a seat, or says why not.
     *
     * @param cold the pod that would be made for that incarnation of the sandbox
     */
    Start start(Sandbox sandbox, int incarnation, Pod cold, Instant now, Context<Sandbox> context) {
        List<KnownPool> pools = view.pools(seats::making, context);
        if (pools.isEmpty()) {
            return new Start.Cold(Optional.empty());
        }
        // The round before failed: its claim may have come through all the same.
        Optional<Pod> present = context.getRetryInfo().flatMap(retry -> claims.present(sandbox, incarnation));
        if (present.isPresent()) {
            SandboxWatches.remember(Pod.class, present.get(), context);
            present.filter(pod -> ClaimedPod.seat(pod).isPresent()).ifPresent(pod -> meter.hit());
            return new Start.There(present.get());
        }
        Claim claim = Claim.of(sandbox, cold, pools, pool -> SandboxWatches.seats(pool, context), seats.making(), now);
        return switch (claim) {
            case Claim.NoPool none -> new Start.Cold(Optional.empty());
            case Claim.Cold why -> new Start.Cold(Optional.of(why));
            case Claim.Warm warm ->
                claimed(warm, sandbox, incarnation, cold, now, context)
                        .<Start>map(Start.There::new)
                        .orElseGet(() -> new Start.Cold(Optional.of(new Claim.Cold(ColdReason.CONTENDED))));
        };
    }

    private Optional<Pod> claimed(
            Claim.Warm warm, Sandbox sandbox, int incarnation, Pod cold, Instant now, Context<Sandbox> context) {
        long begun = meter.now();
        Optional<Pod> claimed = claims.first(warm.seats(), new Cache(context), sandbox, incarnation, cold, now);
        claimed.ifPresent(pod -> meter.hit(begun));
        return claimed;
    }

    /** What is left of the refusal of a sandbox's own pod: where a quota is full, a seat of the namespace goes first. */
    PodRefusal afterMakingRoom(PodRefusal refusal, Sandbox sandbox, Instant now, Context<Sandbox> context) {
        boolean made = refusal.reason() == Reason.QUOTA_EXCEEDED
                && seats.makeRoom(sandbox.getMetadata().getNamespace(), view.seats(context), now);
        return made ? refusal.withSeatEnding() : refusal;
    }

    /** Notes that a sandbox was given a pod of its own. */
    void missed(Claim.Cold why) {
        meter.miss(why.reason());
    }

    /** The informer's, which all rounds share. */
    private record Cache(Context<Sandbox> context) implements SeatClaims.Seats {

        @Override
        public Optional<Pod> latest(Pod seat) {
            return SandboxWatches.latest(seat, context);
        }

        @Override
        public void remember(Pod claimed, Pod before) {
            SandboxWatches.rememberChanged(claimed, before, context);
        }
    }
}
