package dev.sandglass.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How many resources of a kind there are, by namespace and reason of the condition Ready. Only the replica that leads has
 * something to count.
 */
final class Census<R extends HasMetadata> {

    /** Stands for a resource that no operator has written a status for. */
    static final String UNSEEN = "Unseen";

    /** Stands for all namespaces; no namespace is called so. */
    private static final String EVERYWHERE = "*";

    /** One scrape reads many gauges; they share a count. */
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

    private final Kind<R> kind;
    private final Supplier<Stream<R>> resources;
    private final LongSupplier nanoTime;
    private Map<Place, Long> counts = Map.of();
    private long counted;
    private boolean ever;

    /**
     * What is counted.
     *
     * @param name of the gauge
     * @param description of the gauge
     * @param reasons all that are counted, besides {@link #UNSEEN}
     * @param ready those of them with which a resource can be used
     * @param reasonOf the reason of one resource; one that is not among the reasons counts as unseen
     */
    record Kind<R>(
            String name, String description, List<String> reasons, Set<String> ready, Function<R, String> reasonOf) {}

    private record Place(String namespace, String reason) {}

    Census(Kind<R> kind, Supplier<Stream<R>> resources, LongSupplier nanoTime) {
        this.kind = kind;
        this.resources = resources;
        this.nanoTime = nanoTime;
    }

    /**
     * Makes a gauge of every namespace and reason, so that nothing is told as zero and not as nothing. Where all
     * namespaces are watched, they are counted together.
     */
    void bindTo(MeterRegistry registry, Set<String> watched) {
        Set<String> namespaces = watched.equals(Constants.WATCH_ALL_NAMESPACE_SET) ? Set.of(EVERYWHERE) : watched;
        List<String> reasons =
                Stream.concat(kind.reasons().stream(), Stream.of(UNSEEN)).toList();
        for (String namespace : namespaces) {
            for (String reason : reasons) {
                Gauge.builder(kind.name(), this, census -> census.count(namespace, reason))
                        .description(kind.description())
                        .tag("sandbox.namespace", namespace)
                        .tag("ready", Boolean.toString(kind.ready().contains(reason)))
                        .tag("reason", reason)
                        .strongReference(true)
                        .register(registry);
            }
        }
    }

    private synchronized long count(String namespace, String reason) {
        long now = nanoTime.getAsLong();
        if (!ever || now - counted >= FRESH_NANOS) {
            counts = resources.get().collect(Collectors.groupingBy(this::place, Collectors.counting()));
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

    private Place place(R resource) {
        String reason = kind.reasonOf().apply(resource);
        return new Place(resource.getMetadata().getNamespace(), kind.reasons().contains(reason) ? reason : UNSEEN);
    }
}
