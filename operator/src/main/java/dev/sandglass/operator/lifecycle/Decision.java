package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Reason;
import java.time.Instant;
import java.util.Optional;

/** What is to be done about a sandbox now. */
public sealed interface Decision {

    /**
     * A pod of this incarnation shall run; it is made if it is not there.
     *
     * @param review when to look again if nothing happens
     */
    record Run(int incarnation, Instant review) implements Decision {}

    /**
     * The former pod is over: clean up after it and run the next incarnation.
     *
     * @param cause why it ended, if that is known
     */
    record Replace(int former, int incarnation, Optional<Cause> cause) implements Decision {}

    /** Why a pod ended, for a condition. */
    record Cause(Reason reason, String message) {}

    /** A suspended sandbox is wanted again: run the next incarnation. */
    record Resume(int former, int incarnation) implements Decision {}

    /**
     * The pod shall end.
     *
     * @param incarnation the last one; 0 if there was none
     */
    record Suspend(Reason cause, int incarnation) implements Decision {}

    /** The sandbox was suspended for so long that it is given up. */
    record Delete() implements Decision {}

    /**
     * It is suspended and stays so.
     *
     * @param end when it is given up
     */
    record Sleep(Instant end) implements Decision {}

    /** It is suspended and stays so, without an end: its files are kept, or a tool server runs in it. */
    record Keep() implements Decision {}

    /**
     * It is wanted, but no pod can be made now.
     *
     * @param review when to look again if nothing happens
     */
    record Wait(Optional<Instant> review) implements Decision {}

    /** The resource itself is being deleted and has no pod any more; garbage collection does the rest. */
    record Leave() implements Decision {}
}
