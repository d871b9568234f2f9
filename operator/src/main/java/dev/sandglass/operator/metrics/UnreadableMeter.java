package dev.sandglass.operator.metrics;

import dev.sandglass.api.watch.ReadableSerialization;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** Counts what the API server sent and the operator could not read: {@code sandglass_api_unreadable_total}. */
public final class UnreadableMeter {

    public static final String NAME = "sandglass.api.unreadable";

    private UnreadableMeter() {}

    public static void count(ReadableSerialization serialization, MeterRegistry metrics) {
        counter("event", serialization, ReadableSerialization::unreadableEvents, metrics);
        counter("object", serialization, ReadableSerialization::unreadableObjects, metrics);
    }

    private static void counter(
            String what,
            ReadableSerialization serialization,
            ToDoubleFunction<ReadableSerialization> count,
            MeterRegistry metrics) {
        FunctionCounter.builder(NAME, serialization, count)
                .tag("what", what)
                .description("Events of watches, and objects of lists, that could not be read")
                .register(metrics);
    }
}
