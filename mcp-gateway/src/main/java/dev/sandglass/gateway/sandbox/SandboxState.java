package dev.sandglass.gateway.sandbox;

import org.jspecify.annotations.Nullable;

/** What is known of a sandbox at this moment, from the cache. */
public sealed interface SandboxState {

    /** Which sandbox this is. */
    SandboxRef ref();

    /** UID of the resource. */
    String uid();

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
            @Nullable String message) implements SandboxState {}

    /** Stopped by a caller: {@code spec.suspended}. */
    record Stopped(SandboxRef ref, String uid) implements SandboxState {}

    /** Suspended by the operator, e.g. for {@code Idle}; a renewed activity lease brings it back. */
    record Asleep(SandboxRef ref, String uid, String reason) implements SandboxState {}
}
