package dev.sandglass.gateway.mcp;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The calls under way in this process, so that {@code notifications/cancelled} finds them. It comes as a request of its
 * own, perhaps to another replica, which then passes it on ({@link CancellationRelay}).
 */
final class RunningCalls {

    private final ConcurrentHashMap<Key, Set<Sinks.Empty<Void>>> calls = new ConcurrentHashMap<>();

    /**
     * Which call is meant.
     *
     * @param path of the contract that it asks
     * @param caller whose credentials it came with
     * @param client of several programs with one API key, each of which may have a request 1
     * @param requestId as JSON, so that the text "1" and the number 1 stay two ids
     */
    record Key(String path, String caller, Client client, String requestId) {}

    /** The same work, ending empty as soon as its key is cancelled. */
    <T> Mono<T> cancellable(Key key, Mono<T> work) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> cancel = Sinks.empty();
            remember(key, cancel);
            return work.takeUntilOther(cancel.asMono()).doFinally(ended -> forget(key, cancel));
        });
    }

    /** Cancels the one call of that key; if there are several, none, for it could be another program's. */
    boolean cancel(Key key) {
        Set<Sinks.Empty<Void>> found = calls.getOrDefault(key, Set.of());
        if (found.size() != 1) {
            return false;
        }
        found.forEach(Sinks.Empty::tryEmitEmpty);
        return true;
    }

    int size() {
        return calls.size();
    }

    private void remember(Key key, Sinks.Empty<Void> cancel) {
        calls.compute(key, (same, sinks) -> {
            Set<Sinks.Empty<Void>> all = sinks == null ? ConcurrentHashMap.newKeySet() : sinks;
            all.add(cancel);
            return all;
        });
    }

    private void forget(Key key, Sinks.Empty<Void> cancel) {
        calls.computeIfPresent(key, (same, sinks) -> {
            sinks.remove(cancel);
            return sinks.isEmpty() ? null : sinks;
        });
    }
}
