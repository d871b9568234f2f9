package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.ForeignText;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Why something could not be done with a sandbox. The message is written for a model: what happened, why, and which call
 * to make next. It may be shown to the caller as it is.
 */
public abstract sealed class SandboxProblem extends RuntimeException {

    private static final int MAX_CHARS = 32 * 1024;

    private final String fact;

    /**
     * @param next which call to make next; empty for none
     */
    private SandboxProblem(String fact, String next, @Nullable Throwable cause) {
        // Expected outcomes, made often: no stack trace, nothing suppressed.
        super(ForeignText.line(next.isEmpty() ? fact : fact + " " + next, MAX_CHARS), cause, false, false);
        this.fact = fact;
    }

    /** The message, never null. */
    public String text() {
        return String.valueOf(getMessage());
    }

    /** The message without its next step, which names tools of our own contract: for a contract or a tool with another. */
    public String fact() {
        return ForeignText.line(fact, MAX_CHARS);
    }

    /** There is no such sandbox, or the caller may not see it: the same words for both. */
    public static final class NotFound extends SandboxProblem {
        /** Names the sandbox as the caller wrote it. */
        public NotFound(String givenName, String tenant) {
            super(
                    "Sandbox '%s' not found in namespace '%s'.".formatted(givenName, tenant),
                    "Call sandbox_start with this name to create it.",
                    null);
        }
    }

    /** The sandbox exists and has no running pod. */
    public static final class NotRunning extends SandboxProblem {
        private NotRunning(SandboxRef ref, String why, String next) {
            super("Sandbox '%s' is not running: %s.".formatted(ref.givenName(), why), next + ".", null);
        }

        /** Somebody stopped it. */
        public static NotRunning stopped(SandboxRef ref) {
            return new NotRunning(ref, "it was stopped", "Call sandbox_start with this name first");
        }

        /** Somebody started it; says more in {@code detail}, in brackets, or nothing. */
        public static NotRunning starting(SandboxRef ref, Optional<String> detail) {
            return new NotRunning(
                    ref,
                    "it is still starting" + bracketed(detail),
                    "Call sandbox_start with this name to wait for it");
        }

        /** It was suspended, and a call that would bring it back did not wait any longer. */
        public static NotRunning resuming(SandboxRef ref, Optional<String> detail) {
            return new NotRunning(
                    ref,
                    "it was suspended and is still being resumed" + bracketed(detail),
                    "Call sandbox_start with this name to wait for it, then repeat this call; variables of earlier"
                            + " calls are lost");
        }

        private static String bracketed(Optional<String> detail) {
            return detail.map(" (%s)"::formatted).orElse("");
        }
    }

    /** The operator suspended it; {@link Sandboxes#resume} brings it back without its variables. */
    public static final class Asleep extends SandboxProblem {
        private final SandboxRef ref;
        private final String reason;

        /** The reason is that of the Suspended condition. */
        public Asleep(SandboxRef ref, String reason) {
            super(
                    "Sandbox '%s' is suspended (%s).".formatted(ref.givenName(), reason),
                    "Call sandbox_start with this name to resume it.",
                    null);
            this.ref = ref;
            this.reason = reason;
        }

        /** Which sandbox sleeps. */
        public SandboxRef ref() {
            return ref;
        }

        /** One enumerated word, e.g. {@code Idle}. */
        public String reason() {
            return reason;
        }
    }

    /** The pod cannot come up; trying again without a change will not help. */
    public static final class StartFailed extends SandboxProblem {
        private final String reason;

        /** The reason is that of the Ready condition, the detail its message. */
        public StartFailed(SandboxRef ref, String reason, String detail) {
            super("Sandbox '%s' cannot start (%s): %s".formatted(ref.givenName(), reason, detail), "", null);
            this.reason = reason;
        }

        /** One enumerated word, e.g. {@code ImageForbidden}. */
        public String reason() {
            return reason;
        }
    }

    /** What the caller asked for was refused by a rule; the text names the field. */
    public static sealed class Refused extends SandboxProblem {
        /** Names what was refused and why. */
        public Refused(String text) {
            super(text, "", null);
        }

        /** The same, and which call to make next. */
        public Refused(String fact, String next) {
            super(fact, next, null);
        }
    }

    /** The sandbox has no file or folder of that path. */
    public static final class NoSuchFile extends Refused {
        /** Names the path. */
        public NoSuchFile(String text) {
            super(text);
        }
    }

    /** The link to a running sandbox could not be opened or broke. */
    public static final class Unreachable extends SandboxProblem {
        /** Says in {@code why} what was tried, as a clause. */
        public Unreachable(SandboxRef ref, String why, @Nullable Throwable cause) {
            this(
                    "Sandbox '%s' does not answer: %s.".formatted(ref.givenName(), why),
                    "Try again; if it stays so, call sandbox_stop and sandbox_start.",
                    cause);
        }

        private Unreachable(String fact, String next, @Nullable Throwable cause) {
            super(fact, next, cause);
        }

        /** It was sent, and must not be sent twice: says in {@code why} what came instead of an answer, as a clause. */
        public static Unreachable unanswered(SandboxRef ref, String why, @Nullable Throwable cause) {
            return new Unreachable(
                    "Sandbox '%s' did not answer: %s, and whether this was done is not known."
                            .formatted(ref.givenName(), why),
                    "Look before you call this again, since a second time undoes what was done in between: a session that"
                            + " was reset or closed has lost its variables, and sandbox_list_files shows files.",
                    cause);
        }
    }

    /** The cluster did not take the order; running sandboxes are not concerned. */
    public static final class Unavailable extends SandboxProblem {
        /** Says in {@code why} what the cluster answered, as a clause. */
        public Unavailable(String why, @Nullable Throwable cause) {
            super(
                    "The cluster's API does not take orders at the moment: %s. Running sandboxes go on; try again in some seconds."
                            .formatted(why),
                    "",
                    cause);
        }
    }
}
