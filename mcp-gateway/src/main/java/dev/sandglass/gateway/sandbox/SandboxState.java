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

        /** Why no node takes the pod; empty if something else, or nothing, holds up its start. */
        public Optional<Shortage> shortage() {
            return Reason.UNSCHEDULABLE.value().equals(reason)
                    ? Optional.ofNullable(message).map(Shortage::of)
                    : Optional.empty();
        }

        /** The message, without what the scheduler says about nodes and preemption. */
        public Optional<String> cause() {
            return shortage().map(Shortage::text).or(() -> Optional.ofNullable(message));
        }

        @Override
        public Optional<String> condition() {
            return reason == null
                    ? Optional.empty()
                    : cause().map(cause -> "%s: %s"
                            .formatted(reason, cause.endsWith(".") ? cause.substring(0, cause.length() - 1) : cause));
        }
    }

    /** Stopped by a caller: {@code spec.suspended}. */
    record Stopped(SandboxRef ref, String uid) implements SandboxState {}

    /** Suspended by the operator, e.g. for {@code Idle}; a renewed activity lease brings it back. */
    record Asleep(SandboxRef ref, String uid, String reason) implements SandboxState {}
}
