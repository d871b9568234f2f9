package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.Reason;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known of a sandbox at this moment, from the cache. */
public sealed interface SandboxState {

    /** Which sandbox this is. */
    SandboxRef ref();

    /** UID of the resource. */
    String uid();

    /** Whether its pod is Ready. */
    default boolean isRunning() {
        return this instanceof Running;
    }

    /** What the resource says of its start, as "reason: message" without a full stop; empty if it says nothing. */
    default Optional<String> condition() {
        return Optional.empty();
    }

    /** Its pod is Ready. */
    record Running(RunningSandbox sandbox) implements SandboxState {
        @Override
        public SandboxRef ref() {
            return sandbox.ref();
        }

        @Override
        public String uid() {
            return sandbox.uid();
        }
    }

    /** A pod is wanted and is not there yet, or failed; reason and message are those of the Ready condition. */
    record Pending(
            SandboxRef ref,
            String uid,
            @Nullable String reason,
            @Nullable String message) implements SandboxState {
        /** Whether its start is in trouble rather than under way. */
        public boolean isInTrouble() {
            return Optional.ofNullable(reason)
                    .flatMap(Reason::of)
                    .filter(StartTroubles::isTrouble)
                    .isPresent();
        }

        @Override
        public Optional<String> condition() {
            if (reason == null || message == null) {
                return Optional.empty();
            }
            String told = "%s: %s".formatted(reason, message);
            return Optional.of(told.endsWith(".") ? told.substring(0, told.length() - 1) : told);
        }
    }

    /** Stopped by a caller: {@code spec.suspended}. */
    record Stopped(SandboxRef ref, String uid) implements SandboxState {}

    /** Suspended by the operator, e.g. for {@code Idle}; a renewed activity lease brings it back. */
    record Asleep(SandboxRef ref, String uid, String reason) implements SandboxState {}
}
