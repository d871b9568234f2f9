package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import org.jspecify.annotations.Nullable;

/** What to do next, in the words of this contract's tools. */
public final class NextSteps {

    private NextSteps() {}

    /** What happened to a sandbox, and what to do next. */
    public static String told(SandboxProblem problem) {
        return problem instanceof SandboxProblem.Outside outside
                ? outside.fact() + " " + ShellWay.of(outside)
                : told(problem.fact(), problem.next());
    }

    /** The fact, and what to do next if there is anything. */
    public static String told(String fact, @Nullable NextStep next) {
        if (next == null) {
            return fact;
        }
        String step = words(next);
        if (fact.isEmpty()) {
            return step;
        }
        // Some go on with the fact's sentence.
        boolean goesOn = step.startsWith(";") || step.startsWith(":");
        return goesOn ? (fact.endsWith(".") ? fact.substring(0, fact.length() - 1) : fact) + step : fact + " " + step;
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
                        + ": sandbox_run_command '" + line + "'.";
            case NextStep.AllowHosts _ ->
                ": 'allowed_domains' of sandbox_start's 'config' (spec.allowedDomains of the Sandbox) does not cover it."
                        + " Without it, wheels and npm tarballs can be written into the sandbox with sandbox_write_file"
                        + " and installed by their paths.";
            case NextStep.FreeCapacity step -> CapacityWords.of(step);
        };
    }

    private static String words(NextStep.Plain next) {
        return switch (next) {
            case CREATE -> "Call sandbox_start with this name to create it.";
            case START -> "Call sandbox_start with this name first.";
            case AWAIT_START -> "Call sandbox_start with this name to wait for it.";
            case AWAIT_RESUMPTION ->
                "Call sandbox_start with this name to wait for it, then repeat this call; variables of earlier calls are"
                        + " lost.";
            case RESUME -> "Call sandbox_start with this name to resume it.";
            case START_AND_RERUN -> "Call sandbox_start and run the code again.";
            case START_AGAIN -> "; call sandbox_start again";
            case START_WHEN_GONE -> "; call sandbox_start again then";
            case STOP_AND_START -> "Then call sandbox_stop and sandbox_start.";
            case STOP_AND_START_OTHER_IMAGE ->
                "Call sandbox_stop and then sandbox_start to try again, with another image if this one lacks something.";
            case TRY_AGAIN -> "Try again; if it stays so, call sandbox_stop and sandbox_start.";
            case LOOK_FIRST ->
                "Look before you call this again, since a second time undoes what was done in between: a session that was"
                        + " reset or closed has lost its variables, and sandbox_list_files shows files.";
            case SEE_EXECUTIONS -> "sandbox_list with 'sandbox' tells what runs.";
            case END_AN_EXECUTION ->
                "Wait for running executions to end, or interrupt one. sandbox_list with 'sandbox' tells their ids, which"
                        + " sandbox_interrupt takes.";
            case END_A_SESSION ->
                "Use one of them, or end one with sandbox_close_session; sandbox_list with 'sandbox' tells their names.";
            case READ_EXECUTION ->
                "Ask sandbox_get_execution with this execution_id before you run it again: it may run, or have run.";
            case MORE_TIME -> "Run it again with a longer 'timeout' or with less work.";
            case FREE_MEMORY -> "; end what else uses it (sandbox_run_command 'ps aux'), or start a sandbox with more.";
            case MORE_TIME_TO_START -> "Call mcp_register_server again with a longer 'timeout'.";
            case LIST_SERVERS -> "mcp_list_servers shows what there is.";
            case REMOVE_A_SERVER -> "Remove one with mcp_remove_server; mcp_list_servers shows them.";
            case PLACE_IN_SANDBOX ->
                "mcp_register_server with 'placement' 'sandbox' runs it in the sandbox's own pod, where code can read"
                        + " 'env' and 'headers'.";
            case LIST_FILES -> "; sandbox_list_files shows what there is.";
            case USE_COMMAND -> "; use sandbox_run_command instead.";
            case ASK_FOR_LESS -> "; call sandbox_start with less 'memory', 'cpus' or 'disk' in 'config'.";
        };
    }
}
