package dev.sandglass.gateway.execution;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is to be run in a sandbox. */
public sealed interface ExecutionRequest {

    /** How long, how much, and who waits. */
    Limits limits();

    /** The same within other bounds. */
    ExecutionRequest within(Limits other);

    /**
     * Code for a kernel, which keeps its variables.
     *
     * @param language e.g. {@code python}
     * @param session name of the kernel among those of its language; {@code default} if the caller named none
     * @param label what the caller calls the session, if that is none of a session's names; null if it is the same
     * @param fresh not null if the session is for this code alone, and is closed when it has ended
     * @param pythonEnv name or path of the Python that a new session begins with; null for the image's
     * @param code the source text
     * @param envs environment variables that the code sees during this execution
     * @param limits see {@link Limits}
     */
    record Code(
            String language,
            String session,
            @Nullable String label,
            @Nullable Fresh fresh,
            @Nullable String pythonEnv,
            String code,
            Map<String, String> envs,
            Limits limits)
            implements ExecutionRequest {
        /** Keeps its own copy of the variables. */
        public Code {
            envs = Map.copyOf(envs);
        }

        /** For a session that is called by its name. */
        public Code(
                String language,
                String session,
                @Nullable String pythonEnv,
                String code,
                Map<String, String> envs,
                Limits limits) {
            this(language, session, null, null, pythonEnv, code, envs, limits);
        }

        @Override
        public Code within(Limits other) {
            return new Code(language, session, label, fresh, pythonEnv, code, envs, other);
        }

        /** Says which kernel and how much code, never the code. */
        @Override
        public String toString() {
            return "Code[" + language + "/" + session + ", " + code.length() + " characters, " + limits + "]";
        }
    }

    /**
     * A kernel for one code alone.
     *
     * @param servers names of MCP servers of the sandbox, which the code gets as proxies
     */
    record Fresh(List<String> servers) {
        /** Keeps its own copy. */
        public Fresh {
            servers = List.copyOf(servers);
        }
    }

    /**
     * A process of its own.
     *
     * @param command the program, found in PATH; no shell is involved
     * @param args its arguments
     * @param isShellLine this is {@code sh -c LINE}, and the line is for bash where the image has it
     * @param cwd working directory; relative to {@code /workspace}, which an empty one means
     * @param envs environment variables on top of the sandbox's
     * @param stdin what it reads on standard input; empty = end of file at once
     * @param limits see {@link Limits}
     */
    record Command(
            String command,
            List<String> args,
            boolean isShellLine,
            String cwd,
            Map<String, String> envs,
            String stdin,
            Limits limits)
            implements ExecutionRequest {
        /** Keeps its own copies of arguments and variables. */
        public Command {
            args = List.copyOf(args);
            envs = Map.copyOf(envs);
        }

        @Override
        public Command within(Limits other) {
            return new Command(command, args, isShellLine, cwd, envs, stdin, other);
        }

        /** Says how many arguments there are, never which. */
        @Override
        public String toString() {
            return "Command[" + args.size() + " arguments, " + limits + "]";
        }
    }

    /**
     * Packages for code to come.
     *
     * @param language e.g. {@code python}
     * @param packages names with or without versions, URLs or paths of files in the sandbox; no options
     * @param limits see {@link Limits}
     */
    record Install(String language, List<String> packages, Limits limits) implements ExecutionRequest {
        /** Keeps its own copy of the packages. */
        public Install {
            packages = List.copyOf(packages);
        }

        @Override
        public Install within(Limits other) {
            return new Install(language, packages, other);
        }

        /** Says how many packages there are, never which: a URL may hold a password. */
        @Override
        public String toString() {
            return "Install[" + packages.size() + " packages of " + language + ", " + limits + "]";
        }
    }

    /**
     * The bounds of one execution.
     *
     * @param timeout from the start of the run; then it is interrupted
     * @param waitFor how long the caller holds the line, queueing included; then the answer is {@code running}
     * @param background nobody holds the line: answered at once, and not interrupted when the caller goes
     * @param maxOutputChars how many characters of text (standard output and error together; the result; the traceback)
     *     the answer may hold; more is cut in the middle
     */
    record Limits(Duration timeout, Duration waitFor, boolean background, int maxOutputChars) {
        private static final Duration SHORT = Duration.ofSeconds(2);

        /** Refuses what is negative. */
        public Limits {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException("timeout must be more than 0, not " + timeout);
            }
            if (waitFor.isNegative()) {
                throw new IllegalArgumentException("wait must not be less than 0, not " + waitFor);
            }
            if (maxOutputChars < 0) {
                throw new IllegalArgumentException("max_output_chars must not be less than 0, not " + maxOutputChars);
            }
        }

        /**
         * For a caller who has held the line for that long already: so much less, but long enough for what is short.
         */
        public Limits after(Duration held) {
            Duration least = waitFor.compareTo(SHORT) < 0 ? waitFor : SHORT;
            Duration left = waitFor.minus(held);
            return new Limits(timeout, left.compareTo(least) < 0 ? least : left, background, maxOutputChars);
        }

        /** How long to hold the line in truth: not at all for a background execution. */
        Duration patience() {
            return background ? Duration.ZERO : waitFor;
        }
    }
}
