package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.Losses;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.contract.dropin.Unreached;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.output.ExecutionError;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The answer of {@code execute} (contracts.md P3 to P7, P15). */
final class ExecuteAnswer {

    // As kernels.py of the supervisor says it; the env in it is what the caller wrote.
    private static final Pattern LATE_ENV = Pattern.compile(
            "Session '[A-Za-z0-9_-]+' runs in .* counts when a session begins: use another session, or close"
                    + " this one first\\.",
            Pattern.DOTALL);

    private final Run run;
    private final ExecutionResult result;
    private final Steps steps;

    ExecuteAnswer(Run run, Steps steps) {
        this.run = run;
        this.result = run.result();
        this.steps = steps;
    }

    /**
     * What was asked for.
     *
     * @param session as the caller wrote it
     * @param env as the caller wrote it
     * @param newSandbox name of the sandbox if the caller chose it and it was not there
     */
    record Asked(String session, Optional<String> env, Optional<String> newSandbox) {}

    /** The answer, with what is known of the session after it. */
    ToolResult result(Asked asked, Optional<Session> kernel) {
        ObjectNode facts = JsonNodeFactory.instance
                .objectNode()
                .put("status", status())
                .put("stdout", result.stdout())
                .put("stderr", result.stderr())
                .put("result", result.result())
                .put("error", error(asked))
                .put("execution_count", kernel.map(Session::executions).orElse(null))
                .put("warning", warning(asked, kernel));
        return Json.answer(
                facts,
                facts,
                result.images(),
                result.status().word(),
                result.id().toString());
    }

    private String status() {
        return switch (result.status()) {
            case OK -> "ok";
            case TIMEOUT -> "timeout";
            case ENV_ERROR -> "env_error";
            case ERROR, INTERRUPTED, RUNNING, KERNEL_DIED, OOM_KILLED, REJECTED, LOST -> "error";
        };
    }

    private @Nullable String error(Asked asked) {
        return switch (result.status()) {
            case OK -> null;
            case ERROR -> traceback().orElseGet(this::message);
            case INTERRUPTED -> traceback().orElse("KeyboardInterrupt");
            case RUNNING -> "No answer yet: this replica of the gateway ends. The cell goes on in its session.";
            case TIMEOUT, ENV_ERROR, KERNEL_DIED, OOM_KILLED, REJECTED, LOST -> inCallersWords(message(), asked);
        };
    }

    private Optional<String> traceback() {
        ExecutionError error = result.error();
        return error == null
                ? Optional.empty()
                : Optional.of(error.traceback().isEmpty() ? error.name() + ": " + error.message() : error.traceback());
    }

    private String message() {
        String told = steps.told(result.message(), result.next());
        return told.isEmpty() ? result.status().word() : told;
    }

    private @Nullable String warning(Asked asked, Optional<Session> kernel) {
        String told = Stream.of(
                        asked.newSandbox().map(name -> "Sandbox '%s' was not there: this one is new.".formatted(name)),
                        Losses.resumed(run),
                        warned(asked, kernel),
                        result.status() == ExecutionStatus.OK
                                        && !result.message().isEmpty()
                                ? Optional.of(message())
                                : Optional.<String>empty(),
                        missing(),
                        Unreached.told(run.unreached()))
                .flatMap(Optional::stream)
                .collect(Collectors.joining(" "));
        return told.isEmpty() ? null : told;
    }

    /**
     * The sandbox warns of an env that came too late, in words that are not this endpoint's, maybe among other warnings; in
     * which env the session is, its list says.
     */
    private Optional<String> warned(Asked asked, Optional<Session> kernel) {
        if (result.warning() == null) {
            return Optional.empty();
        }
        Matcher late = LATE_ENV.matcher(result.warning());
        String told = late.find()
                ? late.replaceFirst(Matcher.quoteReplacement(bound(asked, kernel)))
                : steps.told(result.warning(), result.warningNext());
        return Optional.of(inCallersWords(told, asked));
    }

    private static String bound(Asked asked, Optional<Session> kernel) {
        String where = kernel.map(known -> "env '%s' (%s)".formatted(Kernels.env(known), Kernels.python(known)))
                .orElse("another env");
        return "session '%s' is bound to %s; ignoring requested env '%s'. Use shutdown('%s') first to rebind."
                .formatted(asked.session(), where, asked.env().orElse(Kernels.OWN_ENV), asked.session());
    }

    /** The sandbox knows the session by another name if the caller's is none of its own. */
    private static String inCallersWords(String told, Asked asked) {
        return told.replace(SessionNames.of(asked.session()).session(), asked.session());
    }

    private Optional<String> missing() {
        int left = result.imagesLeftOut();
        return result.truncated() || left > 0
                ? Optional.of("Output is cut%s: print less, or write it to a file and read parts of it."
                        .formatted(left > 0 ? ", and %d more picture(s) did not fit".formatted(left) : ""))
                : Optional.empty();
    }
}
