package dev.sandglass.operator.metrics;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import java.util.Arrays;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** How many sandboxes there are, as {@code sandglass_sandboxes}. */
final class SandboxCensus {

    private static final Census.Kind<Sandbox> KIND = new Census.Kind<>(
            "sandglass.sandboxes",
            "Sandboxes by the reason of their condition Ready",
            Arrays.stream(Reason.values())
                    .filter(reason -> reason != Reason.POLICIES_APPLIED && reason != Reason.DOMAINS_IGNORED)
                    .map(Reason::value)
                    .toList(),
            Set.of(Reason.RUNNING.value(), Reason.RESTARTED.value(), Reason.UPDATE_PENDING.value()),
            sandbox -> sandbox.observed()
                    .reason(ConditionType.READY)
                    .map(Reason::value)
                    .orElse(Census.UNSEEN));

    private SandboxCensus() {}

    static Census<Sandbox> of(Supplier<Stream<Sandbox>> sandboxes, LongSupplier nanoTime) {
        return new Census<>(KIND, sandboxes, nanoTime);
    }
}
