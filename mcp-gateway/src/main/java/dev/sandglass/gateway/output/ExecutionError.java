package dev.sandglass.gateway.output;

/**
 * The exception that ended an execution.
 *
 * @param name class of the exception, e.g. {@code ZeroDivisionError}
 * @param message its message; may be empty
 * @param traceback the traceback without terminal codes, cut to the execution's output cap
 */
public record ExecutionError(String name, String message, String traceback) {

    /** Says what kind of error it is and nothing of what the code said. */
    @Override
    public String toString() {
        return "ExecutionError[" + name + "]";
    }
}
