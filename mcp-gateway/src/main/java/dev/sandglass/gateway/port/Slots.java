package dev.sandglass.gateway.port;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts open connections, so that no sandbox takes the place of the others. Thread-safe. */
final class Slots {

    private final int mostPerSandbox;
    private final int most;
    private final Map<String, Integer> taken = new ConcurrentHashMap<>();
    private final AtomicInteger all = new AtomicInteger();

    Slots(int mostPerSandbox, int most) {
        this.mostPerSandbox = mostPerSandbox;
        this.most = most;
    }

    /** Takes a place; {@link PortProblem} if there is none. */
    void take(String uid) {
        if (all.incrementAndGet() > most) {
            all.decrementAndGet();
            throw PortProblem.unavailable(
                    "This replica serves %d connections to sandboxes' ports, its most. Try again later."
                            .formatted(most));
        }
        if (taken.merge(uid, 1, Integer::sum) > mostPerSandbox) {
            free(uid);
            throw PortProblem.unavailable(
                    "This sandbox has %d open connections, its most. Close some, or try again later."
                            .formatted(mostPerSandbox));
        }
    }

    /** Gives a place back. */
    void free(String uid) {
        taken.computeIfPresent(uid, (same, count) -> count == 1 ? null : count - 1);
        all.decrementAndGet();
    }

    int open() {
        return all.get();
    }
}
