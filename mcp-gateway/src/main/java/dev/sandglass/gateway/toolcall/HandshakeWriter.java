package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.gateway.toolserver.HandshakeNotes;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/**
 * Writes notes at a pace, for hostile servers can change as often as they like: of each server one a minute, the newest, and
 * only what is not noted already. A write that fails is tried again a minute later. No call waits for it. Thread-safe.
 */
final class HandshakeWriter {

    /** From the end of one write to the next one of the same server. */
    static final Duration PACE = Duration.ofMinutes(1);

    /** How often a write is tried that fails. */
    static final int ATTEMPTS = 5;

    /** Most servers that wait or rest; of others nothing is noted. */
    static final int MOST = 1024;

    private static final String METER = "sandglass.tool.server.notes";
    private static final Logger LOG = LoggerFactory.getLogger(HandshakeWriter.class);

    private final HandshakeNotes notes;
    private final Scheduler clock;
    private final Counter written;
    private final Counter failed;
    private final AtomicBoolean failing = new AtomicBoolean();

    /** By UID of the server; one that is not here neither waits nor rests. */
    private final Map<String, Turn> turns = new HashMap<>();

    HandshakeWriter(HandshakeNotes notes, Scheduler clock, MeterRegistry meters) {
        this.notes = notes;
        this.clock = clock;
        this.written = meters.counter(METER, "outcome", "written");
        this.failed = meters.counter(METER, "outcome", "failed");
    }

    /** What is to be noted of a server. */
    private record Note(SharedServer.Identity server, ServerHandshake handshake) {}

    /** The newest note that waits, and how often the one before it failed. */
    private static final class Turn {
        private @Nullable Note waiting;
        private int failures;
    }

    /** Has it noted soon; returns at once. */
    void note(SharedServer.Identity server, ServerHandshake handshake) {
        if (isFirst(new Note(server, handshake))) {
            clock.schedule(() -> write(server.uid()));
        }
    }

    /** Whether it is the first one of a server that neither waits nor rests. */
    private synchronized boolean isFirst(Note note) {
        String key = note.server().uid();
        boolean first = !turns.containsKey(key);
        if (first && turns.size() >= MOST) {
            failed.increment();
            return false;
        }
        Turn turn = turns.computeIfAbsent(key, _ -> new Turn());
        turn.waiting = note;
        turn.failures = 0;
        return first;
    }

    private void write(String key) {
        next(key).ifPresent(note -> notes.write(note.server(), note.handshake())
                .doFinally(_ -> clock.schedule(() -> write(key), PACE.toMillis(), TimeUnit.MILLISECONDS))
                .subscribe(_ -> {}, failure -> failed(key, note, failure), this::succeeded));
    }

    /** The note whose turn it is; empty if there is none to be written, and then the server does not rest either. */
    private synchronized Optional<Note> next(String key) {
        Turn turn = turns.get(key);
        Note note = turn == null ? null : turn.waiting;
        if (turn == null || note == null || isKnown(note)) {
            turns.remove(key);
            return Optional.empty();
        }
        turn.waiting = null;
        return Optional.of(note);
    }

    /** Noted already, by whichever replica, or outdated: another replica knows a newer spec. */
    private boolean isKnown(Note note) {
        return notes.of(note.server())
                .filter(noted -> noted.equals(note.handshake())
                        || (noted.uid().equals(note.handshake().uid())
                                && noted.generation() > note.handshake().generation()))
                .isPresent();
    }

    private void succeeded() {
        written.increment();
        failing.set(false);
    }

    private void failed(String key, Note note, Throwable failure) {
        failed.increment();
        if (failing.compareAndSet(false, true)) {
            LOG.atWarn()
                    .addKeyValue("namespace", note.server().namespace())
                    .addKeyValue("sandboxtoolserver", note.server().resource())
                    .addKeyValue("cause", failure.getClass().getSimpleName())
                    .log(
                            "What an MCP server is could not be noted for its status; trying again, and silent until it works");
        }
        synchronized (this) {
            Turn turn = turns.get(key);
            if (turn != null && turn.waiting == null && ++turn.failures < ATTEMPTS) {
                turn.waiting = note;
            }
        }
    }

    /** How many servers wait or rest. */
    synchronized int turns() {
        return turns.size();
    }
}
