package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What to do next, where an endpoint has no tool for it: what repeating the call, or another URL, does. */
public final class Steps {

    private final Function<NextStep, Optional<String>> own;

    /**
     * The words of an endpoint.
     *
     * @param own what it says with its own tools; sentences with their full stop
     */
    public Steps(Function<NextStep, Optional<String>> own) {
        this.own = own;
    }

    /** What happened to a sandbox, and what to do next. */
    public String told(SandboxProblem problem) {
        return told(problem.fact(), problem.next());
    }

    /** The fact, and what to do next if there is anything. */
    public String told(String fact, @Nullable NextStep next) {
        String step = next == null ? "" : own.apply(next).orElseGet(() -> words(next));
        if (step.isEmpty() || fact.isEmpty()) {
            return fact + step;
        }
        return fact + (fact.endsWith(".") ? " " : ". ") + step;
    }

    private static String words(NextStep next) {
        return switch (next) {
            case NextStep.Plain plain -> words(plain);
            case NextStep.RunCommand(NextStep.RunCommand.Purpose purpose, String line) ->
                switch (purpose) {
                            case INSTALL -> "Install with";
                            case UPGRADE -> "Upgrade with";
                            case MAKE -> "Make one with";
                        }
                        + ": " + line + ".";
            case NextStep.AllowHosts(List<String> hosts) ->
                "'allowed_domains' in the URL of this endpoint has to cover %s; it counts when a sandbox is new."
                        .formatted(hosts.isEmpty() ? "the index" : String.join(", ", hosts));
            case NextStep.FreeCapacity _ ->
                "Repeat this call in some minutes: Sandglass suspends idle sandboxes, which frees capacity.";
        };
    }

    private static String words(NextStep.Plain next) {
        return switch (next) {
            case CREATE, SEE_EXECUTIONS, LIST_FILES, USE_COMMAND, LIST_SERVERS, MORE_TIME_TO_START, PLACE_IN_SANDBOX ->
                "";
            case START ->
                "It was not stopped from here: it has to be started where it was stopped, or another be used.";
            case AWAIT_START, RESUME -> "Repeat this call in some seconds.";
            case AWAIT_RESUMPTION -> "Repeat this call in some seconds; variables of earlier calls are lost.";
            case ASK_FOR_LESS ->
                "Begin a new MCP session with less 'memory', 'cpus' or 'disk' in the URL of this endpoint.";
            case START_AND_RERUN -> "Repeat this call; variables of earlier calls are lost.";
            case START_AGAIN, START_WHEN_GONE -> "Repeat this call then.";
            case REMOVE_A_SERVER -> "A new MCP session has a new sandbox, without any.";
            case STOP_AND_START, STOP_AND_START_OTHER_IMAGE ->
                "A new MCP session has a new sandbox; 'image' in the URL of this endpoint chooses what is in it.";
            case TRY_AGAIN -> "Repeat this call; if it stays so, a new MCP session has a new sandbox.";
            case LOOK_FIRST -> "Look what was done before you repeat it.";
            case END_AN_EXECUTION -> "Wait for running code to end.";
            case END_A_SESSION -> "Repeat this call when another one has ended.";
            case READ_EXECUTION -> "It may run, or have run: look what it did before you repeat it.";
            case MORE_TIME -> "Give it more time or less work.";
            case FREE_MEMORY ->
                "End what else uses memory, or have a new sandbox with a larger 'memory' in the URL of this endpoint.";
        };
    }
}
