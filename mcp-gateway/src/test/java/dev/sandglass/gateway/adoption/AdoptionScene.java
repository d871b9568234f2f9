package dev.sandglass.gateway.adoption;

import dev.sandglass.gateway.execution.Adopted;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** A replica that adopts, sandboxes in memory, and a clock that is set by hand. */
final class AdoptionScene implements Candidates, AutoCloseable {

    /** All that run. */
    final Map<String, RunningSandbox> running = new LinkedHashMap<>();
    /** Those of them that may be busy. */
    final Set<String> busy = new TreeSet<>();
    /** Those without a server to call. */
    final Set<String> withoutServers = new TreeSet<>();
    /** Those whose Lease cannot be read. */
    final Set<String> untold = new TreeSet<>();
    /** Those that never answer. */
    final Set<String> dead = new TreeSet<>();
    /** Whose Leases were read, in order. */
    final List<String> asked = new ArrayList<>();
    /** Which were dialled, in order. */
    final List<String> dialled = new ArrayList<>();

    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    final Adoption adoption = new Adoption("self", this, this::adopt, new Adoption.Means(clock, clock, meters));
    boolean known = true;

    static RunningSandbox box(String name) {
        var ref = new SandboxRef("default", "sandglass-default", name, name);
        return new RunningSandbox(ref, "uid-" + name, 1, "127.0.0.1", 5710);
    }

    /** Sandboxes that may be busy. */
    void add(String... names) {
        for (String name : names) {
            running.put(name, box(name));
            busy.add(name);
        }
    }

    void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    /** How often looks came to that end. */
    double count(String outcome) {
        return meters.counter("sandglass.adoptions", "outcome", outcome).count();
    }

    private Mono<Adopted> adopt(RunningSandbox sandbox) {
        dialled.add(sandbox.ref().name());
        return dead.contains(sandbox.ref().name()) ? Mono.never() : Mono.just(Adopted.ADOPTED);
    }

    @Override
    public boolean isKnown() {
        return known;
    }

    @Override
    public List<RunningSandbox> running() {
        return List.copyOf(running.values());
    }

    @Override
    public boolean mayCall(RunningSandbox sandbox) {
        return !withoutServers.contains(sandbox.ref().name());
    }

    @Override
    public Mono<Boolean> mayBeBusy(RunningSandbox sandbox) {
        asked.add(sandbox.ref().name());
        return untold.contains(sandbox.ref().name())
                ? Mono.error(new IllegalStateException("the API server is away"))
                : Mono.just(busy.contains(sandbox.ref().name()));
    }

    @Override
    public void close() {
        adoption.close();
        clock.dispose();
    }
}
