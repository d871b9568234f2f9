package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.ExecutionId;

/** What an interrupt met. */
public sealed interface Interruption {

    /** That execution is interrupted; whether it reacts is known only later. */
    record Interrupted(ExecutionId execution) implements Interruption {}

    /** Nothing was running in the session. */
    record Idle() implements Interruption {}

    /** There is no such session. */
    record NoSession() implements Interruption {}

    /** The execution had ended already. */
    record AlreadyEnded(ExecutionId execution) implements Interruption {}

    /** The execution is of another sandbox. */
    record OfAnotherSandbox() implements Interruption {}

    /** The execution is of an earlier pod of the sandbox, and ended with that. */
    record OfEarlierPod() implements Interruption {}
}
