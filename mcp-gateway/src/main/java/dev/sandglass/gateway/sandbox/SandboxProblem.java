package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.toolserver.SandboxToolServer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Why something could not be done with a sandbox. The message is the fact, written for a model: what happened and why. It
 * may be shown to the caller as it is; what to do next the caller's contract says.
 */
public abstract sealed class SandboxProblem extends RuntimeException {

    private static final int MAX_CHARS = 32 * 1024;

    private static final String RESERVED = "Names that end in '%s' are reserved for MCP servers that sandboxes share."
            .formatted(SandboxToolServer.CHILD_SUFFIX);

    private final @Nullable NextStep next;

    private SandboxProblem(String fact, @Nullable NextStep next, @Nullable Throwable cause) {
        // Expected outcomes, made often: no stack trace, nothing suppressed.
        super(ForeignText.line(fact, MAX_CHARS), cause, false, false);
        this.next = next;
    }

    /** What happened and why; names no tool of any contract. */
    public String fact() {
        return String.valueOf(getMessage());
    }

    /** What the caller can do next; null if the fact says it, or there is nothing. */
    public @Nullable NextStep next() {
        return next;
    }

    /** There is no such sandbox, or the caller may not see it: the same words for both. */
    public static final class NotFound extends SandboxProblem {
        /** Names the sandbox as the caller wrote it. */
        public NotFound(String givenName, String tenant) {
            super(
                    "Sandbox '%s' not found in namespace '%s'.".formatted(givenName, tenant)
                            + (isReserved(givenName) ? " " + RESERVED : ""),
                    isReserved(givenName) ? null : NextStep.Plain.CREATE,
                    null);
        }

        private static boolean isReserved(String name) {
            return name.endsWith(SandboxToolServer.CHILD_SUFFIX);
        }
    }

    /** The sandbox exists and has no running pod. */
    public static final class NotRunning extends SandboxProblem {
        private NotRunning(SandboxRef ref, String why, NextStep next) {
            super("Sandbox '%s' is not running: %s.".formatted(ref.givenName(), why), next, null);
        }

        /** Somebody stopped it. */
        public static NotRunning stopped(SandboxRef ref) {
            return new NotRunning(ref, "it was stopped", NextStep.Plain.START);
        }

        /** Somebody started it; says more in {@code detail}, in brackets, or nothing. */
        public static NotRunning starting(SandboxRef ref, Optional<String> detail) {
            return new NotRunning(ref, "it is still starting" + bracketed(detail), NextStep.Plain.AWAIT_START);
        }

        /** It was suspended, and a call that would bring it back did not wait any longer. */
        public static NotRunning resuming(SandboxRef ref, Optional<String> detail) {
            return new NotRunning(
                    ref,
                    "it was suspended and is still being resumed" + bracketed(detail),
                    NextStep.Plain.AWAIT_RESUMPTION);
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
            super("Sandbox '%s' is suspended (%s).".formatted(ref.givenName(), reason), NextStep.Plain.RESUME, null);
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
            this(ref, reason, detail, null);
        }

        /** The same, and what to do next. */
        public StartFailed(SandboxRef ref, String reason, String detail, @Nullable NextStep next) {
            super("Sandbox '%s' cannot start (%s): %s".formatted(ref.givenName(), reason, detail), next, null);
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
            this(text, null);
        }

        /** The same, and what to do next. */
        public Refused(String fact, @Nullable NextStep next) {
            super(fact, next, null);
        }

        /** A sandbox of that name is not for callers to make. */
        public static Refused reserved(SandboxRef ref) {
            return new Refused(
                    "Sandbox '%s' cannot be made. %s Choose another name.".formatted(ref.givenName(), RESERVED));
        }
    }

    /** The sandbox did not do what was asked of its MCP servers. The text may hold the server's own words. */
    public static final class ServerRefused extends Refused {
        private final Cause cause;
        private final String argument;
        private final String rule;

        /** Why, in one word. */
        public enum Cause {
            /** An argument broke a rule. */
            ARGUMENT,
            /** The server ended, or answered what is no MCP. */
            START_FAILED,
            /** The server did not answer in time. */
            START_TIMEOUT,
            /** The sandbox has as many as it may have. */
            TOO_MANY,
            /** The sandbox has none of that name. */
            NO_SERVER,
            /** The image lacks what servers need. */
            UNAVAILABLE,
            /** The image was built before there were servers in sandboxes. */
            TOO_OLD
        }

        /** Says why in {@code fact}. */
        public ServerRefused(Cause cause, String fact, @Nullable NextStep next) {
            this(cause, "", "", fact, next);
        }

        private ServerRefused(Cause cause, String argument, String rule, String fact, @Nullable NextStep next) {
            super(fact, next);
            this.cause = cause;
            this.argument = argument;
            this.rule = ForeignText.line(rule, MAX_CHARS);
        }

        /**
         * A rule that an argument broke.
         *
         * @param argument its name
         * @param part which part of it, with the dot or the bracket in front; empty for all of it
         * @param rule a clause behind the name
         */
        public static ServerRefused ofArgument(String argument, String part, String rule) {
            String behind = ForeignText.line(part, MAX_CHARS) + "' " + rule + ".";
            return new ServerRefused(Cause.ARGUMENT, argument, behind, "'" + argument + behind, null);
        }

        /** Why, in one word. */
        public Cause why() {
            return cause;
        }

        /** The argument that broke a rule, as supervisors call it; empty if none did. */
        public String argument() {
            return argument;
        }

        /** What follows the argument's name in the text: its part, a quote, the rule. */
        public String behindArgument() {
            return rule;
        }
    }

    /** The sandbox has no file or folder of that path. */
    public static final class NoSuchFile extends Refused {
        /** Names the path. */
        public NoSuchFile(String fact, @Nullable NextStep next) {
            super(fact, next);
        }
    }

    /** A path leads out of the workspace and the mounted volumes; the sandbox's own shell may go there. */
    public static final class Outside extends Refused {
        private final Deed deed;
        private final String path;

        /** What was to be done there. */
        public enum Deed {
            READ,
            LOOK,
            WRITE,
            MAKE_FOLDER,
            CHANGE
        }

        /** Names the path as the caller wrote it. */
        public Outside(String fact, Deed deed, String path) {
            super(fact);
            this.deed = deed;
            this.path = path;
        }

        /** What was to be done there. */
        public Deed deed() {
            return deed;
        }

        /** As the caller wrote it: untrusted, at any length. */
        public String path() {
            return path;
        }
    }

    /** The link to a running sandbox could not be opened or broke. */
    public static final class Unreachable extends SandboxProblem {
        /** Says in {@code why} what was tried, as a clause. */
        public Unreachable(SandboxRef ref, String why, @Nullable Throwable cause) {
            this("Sandbox '%s' does not answer: %s.".formatted(ref.givenName(), why), NextStep.Plain.TRY_AGAIN, cause);
        }

        private Unreachable(String fact, NextStep next, @Nullable Throwable cause) {
            super(fact, next, cause);
        }

        /** It was sent, and must not be sent twice: says in {@code why} what came instead of an answer, as a clause. */
        public static Unreachable unanswered(SandboxRef ref, String why, @Nullable Throwable cause) {
            return unanswered(ref, why, NextStep.Plain.LOOK_FIRST, cause);
        }

        /** The same, where {@code next} tells what was done. */
        public static Unreachable unanswered(SandboxRef ref, String why, NextStep next, @Nullable Throwable cause) {
            return new Unreachable(
                    "Sandbox '%s' did not answer: %s, and whether this was done is not known."
                            .formatted(ref.givenName(), why),
                    next,
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
                    null,
                    cause);
        }
    }
}
