package dev.sandglass.operator.write;

import java.time.Instant;
import java.util.Optional;

/** What the refill of pools knows of the claims of sandboxes: a pod that starts beside a claim slows it down. */
@FunctionalInterface
public interface ClaimActivity {

    /**
     * When a sandbox of a namespace last claimed a seat, or began to; empty if none did for long.
     *
     * @param namespace of the pools
     */
    Optional<Instant> latest(String namespace);
}
