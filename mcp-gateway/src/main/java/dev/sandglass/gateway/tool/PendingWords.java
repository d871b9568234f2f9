package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.Optional;

/** What is told of a start that takes longer than its caller waits, in the words of the resource. Pure. */
final class PendingWords {

    private PendingWords() {}

    /** Reason and message, without a full stop; empty if the resource says nothing of a start. */
    static Optional<String> of(Optional<SandboxState> state) {
        return state.filter(SandboxState.Pending.class::isInstance)
                .map(SandboxState.Pending.class::cast)
                .filter(pending -> pending.reason() != null && pending.message() != null)
                .map(pending -> "%s: %s".formatted(pending.reason(), pending.message()))
                .map(told -> told.endsWith(".") ? told.substring(0, told.length() - 1) : told);
    }
}
