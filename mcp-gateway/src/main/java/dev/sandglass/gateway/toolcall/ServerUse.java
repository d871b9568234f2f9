package dev.sandglass.gateway.toolcall;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Records that pods of servers are used, as long as calls are under way: a pod does not sleep during a call, however long
 * it takes, and its idle time begins with the end of the last one. Thread-safe.
 */
final class ServerUse {

    /** How long a pod counts as busy after each record. */
    static final Duration BUSY = Duration.ofMinutes(1);

    /** How often a use that goes on is recorded. */
    static final Duration PULSE = Duration.ofSeconds(30);

    private final Sandboxes children;
    private final Scheduler clock;
    private final Map<String, Use> uses = new HashMap<>();

    ServerUse(Sandboxes children, Scheduler clock) {
        this.children = children;
        this.clock = clock;
    }

    /** The uses of one pod that are under way. */
    private static final class Use {
        private final Disposable pulse;
        private int count;

        private Use(Disposable pulse) {
            this.pulse = pulse;
        }
    }

    /** The same, during which the pod counts as used. */
    <T> Mono<T> during(RunningSandbox child, Mono<T> use) {
        return Mono.using(() -> begin(child), _ -> use, this::end);
    }

    private RunningSandbox begin(RunningSandbox child) {
        synchronized (this) {
            uses.computeIfAbsent(key(child), _ -> new Use(pulse(child))).count++;
        }
        children.active(child, BUSY);
        return child;
    }

    private Disposable pulse(RunningSandbox child) {
        return Flux.interval(PULSE, clock).onBackpressureDrop().subscribe(_ -> children.active(child, BUSY));
    }

    private void end(RunningSandbox child) {
        synchronized (this) {
            Use use = uses.get(key(child));
            if (use == null || --use.count > 0) {
                return;
            }
            uses.remove(key(child));
            use.pulse.dispose();
        }
        children.active(child, Duration.ZERO);
    }

    private static String key(RunningSandbox child) {
        return child.uid() + "." + child.incarnation();
    }

    /** How many pods are used. */
    synchronized int used() {
        return uses.size();
    }
}
