package dev.sandglass.gateway.toolcall;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * So many calls of a server at a time. The others wait for their turn, which the sandboxes have one after the other, so
 * that none fills the queue of all. Thread-safe.
 */
final class CallQueue {

    /** Most calls of one sandbox that wait for one server: as many as a sandbox may have under way. */
    static final int MOST_OF_SANDBOX = 64;

    /** Most calls that wait for one server. */
    static final int MOST = 8 * MOST_OF_SANDBOX;

    private final Map<String, Line> lines = new HashMap<>();
    private final Queue<Place> granted = new ConcurrentLinkedQueue<>();
    private final AtomicInteger granting = new AtomicInteger();

    /** What one server has under way and what waits for it; the sandbox whose turn is next comes first. */
    private static final class Line {
        private final LinkedHashMap<String, ArrayDeque<Place>> waiting = new LinkedHashMap<>();
        private int waits;
        private int runs;
        private int atOnce;
    }

    /** A call's place. */
    private static final class Place {
        private final String server;
        private final String sandbox;
        private final Sinks.Empty<Void> turn = Sinks.empty();
        private boolean runs;

        private Place(String server, String sandbox) {
            this.server = server;
            this.sandbox = sandbox;
        }
    }

    /**
     * The same call in its turn; fails with {@link CallProblem#TOO_MANY} if too many wait already.
     *
     * @param server whose turns these are
     * @param atOnce calls at a time
     * @param sandbox that calls
     */
    <T> Mono<T> inTurn(String server, int atOnce, String sandbox, Mono<T> call) {
        return Mono.defer(() -> {
            Place place = enter(server, atOnce, sandbox);
            return place.turn.asMono().then(call).doFinally(_ -> leave(place));
        });
    }

    private Place enter(String server, int atOnce, String sandbox) {
        var place = new Place(server, sandbox);
        boolean begins;
        synchronized (this) {
            Line line = lines.computeIfAbsent(server, _ -> new Line());
            line.atOnce = atOnce;
            begins = line.runs < atOnce;
            if (begins) {
                line.runs++;
                place.runs = true;
            } else {
                join(line, place);
            }
        }
        if (begins) {
            place.turn.tryEmitEmpty();
        }
        return place;
    }

    private static void join(Line line, Place place) {
        ArrayDeque<Place> own = line.waiting.computeIfAbsent(place.sandbox, _ -> new ArrayDeque<>());
        if (line.waits >= MOST || own.size() >= MOST_OF_SANDBOX) {
            if (own.isEmpty()) {
                line.waiting.remove(place.sandbox);
            }
            throw CallProblem.TOO_MANY.because(
                    "%d calls of this server are under way, and as many as may wait do; wait for one to be answered"
                            .formatted(line.runs));
        }
        own.add(place);
        line.waits++;
    }

    private void leave(Place place) {
        synchronized (this) {
            Line line = lines.get(place.server);
            if (line == null) {
                return;
            }
            if (place.runs) {
                line.runs--;
            } else {
                withdraw(line, place);
            }
            while (line.runs < line.atOnce && line.waits > 0) {
                Place next = next(line);
                next.runs = true;
                line.runs++;
                granted.add(next);
            }
            if (line.runs == 0) {
                lines.remove(place.server);
            }
        }
        grant();
    }

    private static void withdraw(Line line, Place place) {
        ArrayDeque<Place> own = line.waiting.get(place.sandbox);
        if (own != null && own.remove(place)) {
            line.waits--;
            if (own.isEmpty()) {
                line.waiting.remove(place.sandbox);
            }
        }
    }

    /** The first of the sandbox whose turn it is, which goes behind the others. */
    private static Place next(Line line) {
        Map.Entry<String, ArrayDeque<Place>> first =
                Optional.ofNullable(line.waiting.pollFirstEntry()).orElseThrow();
        Place next = first.getValue().remove();
        line.waits--;
        if (!first.getValue().isEmpty()) {
            line.waiting.put(first.getKey(), first.getValue());
        }
        return next;
    }

    /** One after the other and not within each other: a call may be over at once, and give its turn on. */
    private void grant() {
        if (granting.getAndIncrement() > 0) {
            return;
        }
        int round = 1;
        while (round > 0) {
            for (Place next = granted.poll(); next != null; next = granted.poll()) {
                next.turn.tryEmitEmpty();
            }
            round = granting.addAndGet(-round);
        }
    }

    /** How many calls of a server wait. */
    synchronized int waiting(String server) {
        Line line = lines.get(server);
        return line == null ? 0 : line.waits;
    }

    /** How many calls of a server are under way. */
    synchronized int running(String server) {
        Line line = lines.get(server);
        return line == null ? 0 : line.runs;
    }

    /** How many servers have calls under way. */
    synchronized int servers() {
        return lines.size();
    }
}
