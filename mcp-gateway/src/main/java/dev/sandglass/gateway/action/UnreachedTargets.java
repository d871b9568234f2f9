package dev.sandglass.gateway.action;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.ExecutionError;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/**
 * What a sandbox did not reach during a call: what is refused, and what is allowed and failed. It is nearly always known
 * before the code that met it has ended; only if that code complains of a proxy and nothing is known, the answer waits a
 * moment for it.
 */
final class UnreachedTargets {

    /** Longest that an answer waits. */
    static final Duration PATIENCE = Duration.ofMillis(100);

    private static final List<String> HINTS = List.of(
            "403", "Forbidden", "forbidden", "502", "Bad Gateway", "refused this request", "not reach this host");

    /** Executions that go on after their answer, and when they began, so that a call that reads them on has their hosts. */
    private static final int MAX_BEGUN = 1000;

    private final DeniedHosts hosts;
    private final Map<ExecutionId, Long> begun = Collections.synchronizedMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ExecutionId, Long> eldest) {
            return size() > MAX_BEGUN;
        }
    });

    UnreachedTargets(DeniedHosts hosts) {
        this.hosts = hosts;
    }

    long now() {
        return hosts.now();
    }

    /**
     * Targets since the call began whose result this is, or since the execution did, if this replica began it. What was
     * before belongs to another call.
     */
    Mono<List<UnreachedHost>> during(String sandboxUid, ExecutionResult result, long callBegan) {
        long since = since(result.id(), callBegan);
        if (result.status() == ExecutionStatus.RUNNING) {
            begun.put(result.id(), since);
        }
        boolean late = hosts.isHearing() && !hosts.hasSince(sandboxUid, since) && complainsOfAProxy(result);
        return late
                ? hosts.next(sandboxUid, PATIENCE).then(Mono.fromSupplier(() -> hosts.take(sandboxUid, since)))
                : Mono.just(hosts.take(sandboxUid, since));
    }

    /** The same for an execution of which there is no result any more. */
    List<UnreachedHost> during(String sandboxUid, ExecutionId id, long callBegan) {
        return hosts.take(sandboxUid, since(id, callBegan));
    }

    private long since(ExecutionId id, long callBegan) {
        return Optional.ofNullable(begun.get(id)).orElse(callBegan);
    }

    /** As curl, pip, git, Node and others word it; a result that mentions none of it is answered at once. */
    static boolean complainsOfAProxy(ExecutionResult result) {
        ExecutionError error = result.error();
        return Stream.of(
                        result.stderr(),
                        result.stdout(),
                        error == null ? "" : error.message(),
                        error == null ? "" : error.traceback())
                .anyMatch(UnreachedTargets::complains);
    }

    private static boolean complains(String text) {
        if (HINTS.stream().noneMatch(text::contains)) {
            return false;
        }
        String lower = text.toLowerCase(Locale.ROOT);
        return lower.contains("proxy") || lower.contains("tunnel");
    }
}
