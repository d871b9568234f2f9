package dev.sandglass.operator.metrics;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How many sandboxes there are, as {@code sandglass_sandboxes} by namespace and reason of the condition Ready. Only the
 * replica that leads has something to count.
 */
final class SandboxCensus {

    static final String NAME = "sandglass.sandboxes";

    /** Stands for a sandbox that no operator has written a status for. */
    static final String UNSEEN = "Unseen";

    /** Stands for all namespaces; no namespace is called so. */
    static final String EVERYWHERE = "*";

    /** One scrape reads many gauges; they share a count. */
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

    private static final Set<Reason> READY = EnumSet.of(Reason.RUNNING, Reason.RESTARTED, Reason.UPDATE_PENDING);

    private final Supplier<Stream<Sandbox>> sandboxes;
    private final LongSupplier nanoTime;
    private Map<Place, Long> counts = Map.of();
    private long counted;
    private boolean ever;

    private record Place(String namespace, String reason) {}

    SandboxCensus(Supplier<Stream<Sandbox>> sandboxes, LongSupplier nanoTime) {
        this.sandboxes = sandboxes;
        this.nanoTime = nanoTime;
    }

    /**
     * Makes a gauge of every namespace and reason, so that nothing is told as zero and not as nothing. Where all
     * namespaces are watched, they are counted together.
     */
    void bindTo(MeterRegistry registry, Set<String> watched) {
        Set<String> namespaces = watched.equals(Constants.WATCH_ALL_NAMESPACE_SET) ? Set.of(EVERYWHERE) : watched;
        List<String> ready = READY.stream().map(Reason::value).toList();
        for (String namespace : namespaces) {
            for (String reason : reasons()) {
                Gauge.builder(NAME, this, census -> census.count(namespace, reason))
                        .description("Sandboxes by the reason of their condition Ready")
                        .tag("sandbox.namespace", namespace)
                        .tag("ready", Boolean.toString(ready.contains(reason)))
                        .tag("reason", reason)
                        .strongReference(true)
                        .register(registry);
            }
        }
    }

    private static List<String> reasons() {
        return Stream.concat(
                        Arrays.stream(Reason.values())
                                .filter(reason -> reason != Reason.POLICIES_APPLIED && reason != Reason.DOMAINS_IGNORED)
                                .map(Reason::value),
                        Stream.of(UNSEEN))
                .toList();
    }

    private synchronized long count(String namespace, String reason) {
        long now = nanoTime.getAsLong();
        if (!ever || now - counted >= FRESH_NANOS) {
            counts = sandboxes.get().collect(Collectors.groupingBy(SandboxCensus::place, Collectors.counting()));
            counted = now;
            ever = true;
        }
        return namespace.equals(EVERYWHERE)
                ? counts.entrySet().stream()
                        .filter(count -> count.getKey().reason().equals(reason))
                        .mapToLong(Map.Entry::getValue)
                        .sum()
                : counts.getOrDefault(new Place(namespace, reason), 0L);
    }

    private static Place place(Sandbox sandbox) {
        String reason = sandbox.observed()
                .reason(ConditionType.READY)
                .map(Reason::value)
                .orElse(UNSEEN);
        return new Place(sandbox.getMetadata().getNamespace(), reason);
    }
}
