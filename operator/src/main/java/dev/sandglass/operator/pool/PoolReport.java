package dev.sandglass.operator.pool;

import dev.sandglass.api.Reason;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.PoolReason;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolStatus;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.lifecycle.Notice;
import dev.sandglass.operator.lifecycle.Saying;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Writes up what there is as a pool's status. Equal input gives an equal status, hence no write. Pure. */
final class PoolReport {

    /**
     * A claim and the seat that follows it change the numbers and change them back; what is over within that time is not
     * written.
     */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final String TRUE = "True";
    private static final String FALSE = "False";

    /** Reasons that come and go with every claim. */
    private static final Set<String> EXPECTED =
            Set.of(PoolReason.SEATS_READY.value(), PoolReason.SEATS_STARTING.value(), PoolReason.COMPLETE.value());

    private PoolReport() {}

    /** The status to publish. */
    static SandboxPoolStatus of(PoolView seen) {
        List<Seat> all = seen.seats().stream().filter(Seat::counts).toList();
        List<Seat> updated = all.stream().filter(seat -> seat.isOf(seen.hash())).toList();
        int ready = (int) updated.stream().filter(Seat::isReady).count();
        Saying progressing = progressing(seen, all.size(), ready);
        Saying available = available(seen, ready, progressing);
        return new SandboxPoolStatus(
                seen.pool().getMetadata().getGeneration(),
                all.size(),
                ready,
                updated.size(),
                SeatPod.selector(seen.pool()),
                List.of(
                        condition(seen.pool(), PoolCondition.AVAILABLE, available, seen.now()),
                        condition(seen.pool(), PoolCondition.PROGRESSING, progressing, seen.now())));
    }

    private static Saying available(PoolView seen, int ready, Saying progressing) {
        if (seen.pool().wanted().replicas() == 0) {
            return saying(TRUE, PoolReason.NO_SEATS_WANTED, "spec.replicas is 0, so sandboxes start cold");
        }
        if (ready > 0) {
            return saying(TRUE, PoolReason.SEATS_READY, "A sandbox can claim a seat");
        }
        return FALSE.equals(progressing.status())
                ? progressing
                : saying(FALSE, PoolReason.SEATS_STARTING, "No seat is ready yet; sandboxes start cold");
    }

    private static Saying progressing(PoolView seen, int all, int ready) {
        return seen.refusal()
                .or(seen::open)
                .map(why -> new Saying(FALSE, why.reason().value(), why.message()))
                .or(() -> trouble(seen))
                .orElseGet(() -> all == seen.wanted() && ready == seen.wanted()
                        ? saying(TRUE, PoolReason.COMPLETE, "The pool has the seats that its spec wants")
                        : saying(TRUE, PoolReason.SEATS_STARTING, "The operator makes, replaces or ends seats"));
    }

    /** What keeps seats that are wanted from starting. */
    private static Optional<Saying> trouble(PoolView seen) {
        Optional<Saying> hangs = seen.stuck().map(PoolReport::hanging);
        boolean lacking = seen.present().stream().filter(Seat::isReady).count() < seen.wanted();
        return seen.memory()
                .told()
                .filter(setback -> lacking)
                .map(setback -> new Saying(FALSE, setback.reason().value(), setback.message()))
                .or(() -> hangs);
    }

    private static Saying hanging(Seat seat) {
        return seat.trouble()
                .map(trouble -> new Saying(FALSE, trouble.reason().value(), trouble.message()))
                .orElseGet(() -> saying(
                        FALSE,
                        PoolReason.DEADLINE_EXCEEDED,
                        "Pod " + seat.name() + " did not start within " + PoolPlan.START_WITHIN.toSeconds()
                                + " seconds; kubectl describe pod " + seat.name() + " may show the cause"));
    }

    /** The status after an exception: what was known stays, but that seats are made is not known. */
    static SandboxPoolStatus failed(SandboxPool pool, String message, Instant now) {
        SandboxPoolStatus former = pool.observed();
        Condition unknown = condition(
                pool, PoolCondition.PROGRESSING, new Saying("Unknown", Reason.OPERATOR_ERROR.value(), message), now);
        return new SandboxPoolStatus(
                former.observedGeneration(),
                former.replicas(),
                former.readyReplicas(),
                former.updatedReplicas(),
                former.selector(),
                former.condition(PoolCondition.AVAILABLE)
                        .map(known -> List.of(known, unknown))
                        .orElseGet(() -> List.of(unknown)));
    }

    /** Whether a status is worth a write at once, and not only if it holds for a while. */
    static boolean isNews(SandboxPoolStatus before, SandboxPoolStatus after) {
        return before.conditions().isEmpty()
                || !Objects.equals(before.observedGeneration(), after.observedGeneration())
                || !isExpected(before)
                || !isExpected(after);
    }

    private static boolean isExpected(SandboxPoolStatus status) {
        return status.conditions().stream().allMatch(condition -> EXPECTED.contains(condition.getReason()));
    }

    /** What a change is worth telling as an Event: that seats cannot start, and that they can again. */
    static Optional<Notice> notice(SandboxPoolStatus before, SandboxPoolStatus after) {
        Optional<Condition> was = before.condition(PoolCondition.PROGRESSING);
        Optional<Condition> is = after.condition(PoolCondition.PROGRESSING);
        boolean wasTrouble = was.filter(told -> !TRUE.equals(told.getStatus())).isPresent();
        boolean isTrouble = is.filter(told -> !TRUE.equals(told.getStatus())).isPresent();
        boolean same = was.map(Condition::getReason).equals(is.map(Condition::getReason));
        return is.filter(told -> !same && (wasTrouble || isTrouble))
                .map(told -> Notice.of(isTrouble, told.getReason(), told.getMessage()));
    }

    private static Saying saying(String status, PoolReason reason, String message) {
        return new Saying(status, reason.value(), message);
    }

    private static Condition condition(SandboxPool pool, PoolCondition type, Saying saying, Instant now) {
        return saying.asCondition(type.value(), pool.observed().condition(type), pool, now);
    }
}
