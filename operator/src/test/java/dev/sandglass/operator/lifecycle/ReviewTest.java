package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.Statuses;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When the next round is if nothing happens. */
class ReviewTest {

    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static Observed seen() {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", Statuses.suspended(Reason.IDLE));
        return new Observed(sandbox, Optional.empty(), Optional.empty(), Optional.empty(), true, NOW);
    }

    /** That it is gone is no event for us; that it is not would be none either. */
    @Test
    void whetherADeletedSandboxIsGoneIsLookedForSoon() {
        assertThat(Review.of(seen(), new Decision.Delete(), DEADLINES)).contains(NOW.plusSeconds(2));
    }

    @Test
    void whatIsKeptForEverNeedsNoLook() {
        assertThat(Review.of(seen(), new Decision.Keep(), DEADLINES)).isEmpty();
        assertThat(Review.of(seen(), new Decision.Leave(), DEADLINES)).isEmpty();
    }
}
