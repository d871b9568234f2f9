package dev.sandglass.gateway.sandbox;

import java.time.Duration;
import java.util.List;

/**
 * What a caller can do next. It names no tool: several contracts stand over the same use cases, and each says it in the
 * words of its own tools.
 */
public sealed interface NextStep {

    /** A step that needs no values. */
    enum Plain implements NextStep {
        /** Create the sandbox. */
        CREATE,
        /** Start the sandbox, which was stopped. */
        START,
        /** Wait for the start that is under way. */
        AWAIT_START,
        /** Wait for the resumption that is under way, then repeat the call. */
        AWAIT_RESUMPTION,
        /** Resume the sandbox, which is suspended. */
        RESUME,
        /** Start the sandbox and run the code again. */
        START_AND_RERUN,
        /** Start the sandbox again. */
        START_AGAIN,
        /** Start the sandbox again when the one that is being deleted is gone. */
        START_WHEN_GONE,
        /** Stop and start the sandbox, once the cause is mended. */
        STOP_AND_START,
        /** Stop and start the sandbox, with another image if this one is the cause. */
        STOP_AND_START_OTHER_IMAGE,
        /** Repeat the call; stop and start the sandbox if that does not help. */
        TRY_AGAIN,
        /** Look what was done before the call is repeated. */
        LOOK_FIRST,
        /** See what runs in the sandbox. */
        SEE_EXECUTIONS,
        /** Wait until a running execution ends, or interrupt one. */
        END_AN_EXECUTION,
        /** Use a session that is there, or end one. */
        END_A_SESSION,
        /** Read the execution by its id. */
        READ_EXECUTION,
        /** Give the run more time or less work. */
        MORE_TIME,
        /** End what uses the sandbox's memory, or give it more. */
        FREE_MEMORY,
        /** Give the MCP server more time to start. */
        MORE_TIME_TO_START,
        /** See which MCP servers there are. */
        LIST_SERVERS,
        /** Remove an MCP server. */
        REMOVE_A_SERVER,
        /** Register the MCP server in the sandbox's own pod. */
        PLACE_IN_SANDBOX,
        /** List files. */
        LIST_FILES,
        /** Run a command instead. */
        USE_COMMAND,
        /** Give the sandbox less memory, CPU or disk. */
        ASK_FOR_LESS
    }

    /**
     * Run a command in the sandbox.
     *
     * @param purpose what it is for
     * @param line for a shell, on one line
     */
    record RunCommand(Purpose purpose, String line) implements NextStep {

        /** What a command is for. */
        public enum Purpose {
            /** To install what is missing. */
            INSTALL,
            /** To replace what is too old. */
            UPGRADE,
            /** To make what is not there. */
            MAKE
        }
    }

    /**
     * Let the sandbox reach these hosts, or bring in what they have.
     *
     * @param hosts with the port if it is an unusual one; empty if they are not known
     */
    record AllowHosts(List<String> hosts) implements NextStep {
        /** Keeps its own copy. */
        public AllowHosts {
            hosts = List.copyOf(hosts);
        }
    }

    /**
     * Stop a sandbox that is not needed, so that a node has enough free capacity for this one.
     *
     * @param tenant whose sandboxes the caller may see
     * @param running how many other sandboxes of the tenant run
     * @param idle some of them, the longest idle first; empty if none is known to be idle
     */
    record FreeCapacity(String tenant, int running, List<Idle> idle) implements NextStep {
        /** Keeps its own copy. */
        public FreeCapacity {
            idle = List.copyOf(idle);
        }

        /**
         * A running sandbox that no caller uses.
         *
         * @param name as callers write it
         * @param atLeast how long it has been idle; the last use may be earlier
         */
        public record Idle(String name, Duration atLeast) {}
    }
}
