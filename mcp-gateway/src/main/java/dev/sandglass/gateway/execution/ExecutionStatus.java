package dev.sandglass.gateway.execution;

import java.util.Locale;

/** How an execution stands or ended; the words are those of the API. */
public enum ExecutionStatus {
    /** Ran to its end; a command whatever its exit code. */
    OK,
    /** The code raised, the command could not be started or ended by a signal, or the installation failed. */
    ERROR,
    /** Interrupted at its time-out. */
    TIMEOUT,
    /** Interrupted by a caller. */
    INTERRUPTED,
    /** Runs or waits in the queue; read on by its id. */
    RUNNING,
    /** The kernel's process ended under it. */
    KERNEL_DIED,
    /** It asked for more memory than the sandbox has. */
    OOM_KILLED,
    /** Not started: the queue is full, or it never came to the sandbox. */
    REJECTED,
    /** Not started: the environment it needs is missing. */
    ENV_ERROR,
    /** Its pod or container is gone, and with it what it printed. */
    LOST;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word of the API, e.g. {@code kernel_died}. */
    public String word() {
        return word;
    }

    /** Whether MCP's {@code isError} is true: for all but {@link #OK} and {@link #RUNNING}. */
    public boolean isError() {
        return this != OK && this != RUNNING;
    }

    /** The status of that word; a word of a newer supervisor that we do not know counts as {@link #ERROR}. */
    static ExecutionStatus of(String word) {
        for (ExecutionStatus status : values()) {
            if (status.word.equals(word)) {
                return status;
            }
        }
        return ERROR;
    }
}
