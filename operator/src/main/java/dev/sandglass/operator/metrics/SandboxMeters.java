package dev.sandglass.operator.metrics;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.toolserver.SandboxToolServer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What is measured of the operator's work, besides what it asks of the API server ({@link ApiMeter}). */
public final class SandboxMeters {

    static final String ERRORS = "sandglass.reconcile.errors";

    private final MeterRegistry registry;
    private final Set<String> namespaces;
    private final StartMeter starts;
    private final ClaimMeter claims;
    private final Counter errors;

    public SandboxMeters(MeterRegistry registry, Set<String> namespaces) {
        this.registry = registry;
        this.namespaces = namespaces;
        this.starts = new StartMeter(registry, System::nanoTime);
        this.claims = new ClaimMeter(registry, System::nanoTime);
        this.errors = Counter.builder(ERRORS)
                .description("Rounds of the operator that ended with an exception")
                .register(registry);
    }

    public StartMeter starts() {
        return starts;
    }

    public ClaimMeter claims() {
        return claims;
    }

    /** From now on counts the sandboxes of a cache at each scrape. */
    public void census(Supplier<Stream<Sandbox>> sandboxes) {
        SandboxCensus.of(sandboxes, System::nanoTime).bindTo(registry, namespaces);
    }

    /** The same of tool servers. */
    public void toolServers(Supplier<Stream<SandboxToolServer>> servers) {
        ToolServerCensus.of(servers, System::nanoTime).bindTo(registry, namespaces);
    }

    public void failed() {
        errors.increment();
    }
}
