package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import io.fabric8.kubernetes.api.model.Condition;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * What a change of a sandbox's status is worth telling as an Event. A start that goes the normal way is worth none: it
 * would cost writes and report only what is expected.
 *
 * @param warning whether a user may have to act
 * @param reason one word, that of the condition
 * @param note what happened, at most {@link #MAX_NOTE} bytes of UTF-8
 */
public record Notice(boolean warning, String reason, String note) {

    /** In bytes, though the API server calls them characters: it refuses an Event with a longer note. */
    static final int MAX_NOTE = 1024;

    private static final String CUT = "…";

    private static final Set<Reason> EXPECTED = EnumSet.of(
            Reason.RUNNING,
            Reason.UPDATE_PENDING,
            Reason.STARTING,
            Reason.REQUESTED,
            Reason.IDLE,
            Reason.MAX_LIFETIME,
            Reason.POLICIES_APPLIED);

    /**
     * One with a message of any length.
     *
     * @param warning whether a user may have to act
     * @param reason one word
     * @param message cut to what an Event takes
     */
    public static Notice of(boolean warning, String reason, String message) {
        return new Notice(warning, reason, cut(message));
    }

    /** What there is to tell when one status follows another; empty if nothing. */
    public static Optional<Notice> of(SandboxStatus before, SandboxStatus after) {
        Optional<Reason> was = before.reason(ConditionType.READY);
        Optional<Reason> is = after.reason(ConditionType.READY);
        Optional<Notice> warm = ofNextSeat(before, after);
        if (warm.isPresent()) {
            return warm;
        }
        if (is.isEmpty() || is.equals(was)) {
            return Optional.empty();
        }
        if (is.get() == Reason.STARTING && before.holds(ConditionType.SUSPENDED)) {
            return Optional.of(new Notice(false, "Resumed", "The sandbox was resumed; a fresh pod is starting"));
        }
        if (is.get() == Reason.STARTING && !endsTrouble(before)) {
            return Optional.empty();
        }
        boolean normalWay = is.get() == Reason.RUNNING && (was.isEmpty() || was.get() == Reason.STARTING);
        return normalWay
                ? Optional.empty()
                : after.condition(ConditionType.READY).map(condition -> of(is.get(), condition));
    }

    /** A seat runs at once, so that no status comes between that says that the former pod was replaced. */
    private static Optional<Notice> ofNextSeat(SandboxStatus before, SandboxStatus after) {
        boolean follows = before.incarnation() != null && !before.incarnation().equals(after.incarnation());
        if (after.seat() == null || !follows || !after.holds(ConditionType.READY)) {
            return Optional.empty();
        }
        if (before.holds(ConditionType.SUSPENDED)) {
            return Optional.of(new Notice(false, "Resumed", "The sandbox was resumed; it claimed a seat of a pool"));
        }
        return Optional.ofNullable(after.lost())
                .flatMap(Reason::of)
                .filter(why -> !EXPECTED.contains(why))
                .map(why -> new Notice(
                        true,
                        why.value(),
                        "The previous pod ended (" + why.value()
                                + "), and its memory is lost; the sandbox claimed a seat" + " of a pool"));
    }

    private static boolean endsTrouble(SandboxStatus before) {
        return !before.holds(ConditionType.READY)
                && before.reason(ConditionType.READY)
                        .filter(was -> !EXPECTED.contains(was))
                        .isPresent();
    }

    private static Notice of(Reason reason, Condition condition) {
        return of(!EXPECTED.contains(reason), reason.value(), condition.getMessage());
    }

    private static String cut(String message) {
        if (bytes(message) <= MAX_NOTE) {
            return message;
        }
        CharBuffer text = CharBuffer.wrap(message);
        // An encoder stops before the character that has no room, not within it.
        StandardCharsets.UTF_8
                .newEncoder()
                .onMalformedInput(CodingErrorAction.REPLACE)
                .encode(text, ByteBuffer.allocate(MAX_NOTE - bytes(CUT)), true);
        return message.substring(0, text.position()) + CUT;
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
