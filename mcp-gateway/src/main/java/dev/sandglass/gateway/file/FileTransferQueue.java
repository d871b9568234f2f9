package dev.sandglass.gateway.file;

import dev.sandglass.gateway.quota.RequestScope;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Whose turn it is to move content of files through this process. So much at a time of one sandbox, of one tenant and of all
 * together; others wait in line, and when that is full are refused. A turn lasts until the answer was written, where the
 * request says when that is ({@link RequestScope}), else until it is handed on. Thread-safe.
 */
final class FileTransferQueue {

    /** Most turns of one sandbox at a time. */
    static final int OF_SANDBOX = 4;

    /** Most calls of one sandbox that wait. */
    static final int WAITING = 32;

    /** Most calls of all sandboxes that wait. */
    static final int ALL_WAITING = 1024;

    /** Most bytes of all turns at a time; an answer in base64 takes four times its bytes. */
    static final long ALL_BYTES = 24L * 1024 * 1024;

    /** Most bytes of one tenant's turns, so that no tenant keeps all others waiting. */
    static final long TENANT_BYTES = 16L * 1024 * 1024;

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Duration patience;
    private final Map<String, Long> ofSandbox = new HashMap<>();
    private final Map<String, Long> waitingOf = new HashMap<>();
    private final Map<String, Long> ofTenant = new HashMap<>();
    private final Queue<Turn> line = new ArrayDeque<>();
    private final Queue<Turn> called = new ArrayDeque<>();
    private boolean calling;
    private long bytes;

    FileTransferQueue() {
        this(PATIENCE);
    }

    /**
     * @param patience how long a call waits for its turn
     */
    FileTransferQueue(Duration patience) {
        this.patience = patience;
    }

    /**
     * Does something when it is its turn; {@link SandboxProblem.Refused} if that does not come.
     *
     * @param weight how many bytes of content it moves at most
     */
    <T> Mono<T> take(RunningSandbox sandbox, long weight, Mono<T> deed) {
        return Mono.deferContextual(context -> {
            Turn turn = new Turn(sandbox, weight);
            Mono<T> done = Mono.<Void>create(turn::join)
                    .timeout(patience)
                    .onErrorMap(
                            TimeoutException.class,
                            _ -> refused(
                                    sandbox, "it waited for %d s, and others still do".formatted(patience.toSeconds())))
                    .then(deed);
            RequestScope until = RequestScope.in(context).orElse(null);
            if (until == null) {
                return done.doFinally(_ -> turn.leave());
            }
            until.hold(turn::leave);
            return done.doOnError(_ -> turn.leave()).doOnCancel(turn::leave);
        });
    }

    private static SandboxProblem refused(RunningSandbox sandbox, String why) {
        return new SandboxProblem.Refused(
                "Rejected: too many calls read or write files of sandbox '%s' or beside it (%s). Nothing was done; try again"
                                .formatted(sandbox.ref().givenName(), why)
                        + " in a moment, with fewer calls at a time.");
    }

    private static void add(Map<String, Long> counts, String key, long change) {
        long sum = counts.getOrDefault(key, 0L) + change;
        if (sum == 0) {
            counts.remove(key);
        } else {
            counts.put(key, sum);
        }
    }

    /** How many turns and tenants are in its books; 0 when nothing is under way. */
    synchronized int size() {
        return ofSandbox.size() + waitingOf.size() + ofTenant.size() + line.size() + called.size();
    }

    private synchronized boolean enter(Turn turn) {
        if (turn.state != State.NEW) {
            return true;
        }
        boolean full = waitingOf.getOrDefault(turn.sandbox(), 0L) >= WAITING || line.size() >= ALL_WAITING;
        if (full && !turn.fits()) {
            return false;
        }
        turn.state = State.WAITING;
        line.add(turn);
        add(waitingOf, turn.sandbox(), 1);
        callThoseThatFit();
        return true;
    }

    private synchronized void end(Turn turn) {
        State was = turn.state;
        turn.state = State.OVER;
        if (was == State.WAITING) {
            line.remove(turn);
            add(waitingOf, turn.sandbox(), -1);
        } else if (was == State.GOING) {
            turn.weigh(-1);
        }
        callThoseThatFit();
    }

    private void callThoseThatFit() {
        for (Iterator<Turn> each = line.iterator(); each.hasNext(); ) {
            Turn turn = each.next();
            if (turn.fits()) {
                each.remove();
                add(waitingOf, turn.sandbox(), -1);
                turn.state = State.GOING;
                turn.weigh(1);
                called.add(turn);
            }
        }
    }

    /** Begins what may begin: one after the other, because one that fails at once calls the next. */
    private void beginCalled() {
        for (Turn next = nextCalled(false); next != null; next = nextCalled(true)) {
            next.begin();
        }
    }

    private synchronized @Nullable Turn nextCalled(boolean mine) {
        if (calling && !mine) {
            return null;
        }
        Turn next = called.poll();
        calling = next != null;
        return next;
    }

    private enum State {
        NEW,
        WAITING,
        GOING,
        OVER
    }

    /** One call's; state and figures are guarded by the turns. */
    private final class Turn {
        private final RunningSandbox of;
        private final long weight;
        private State state = State.NEW;
        private @Nullable MonoSink<Void> sink;

        private Turn(RunningSandbox of, long weight) {
            this.of = of;
            this.weight = Math.max(1, weight);
        }

        private String sandbox() {
            return of.uid();
        }

        private boolean fits() {
            return ofSandbox.getOrDefault(of.uid(), 0L) < OF_SANDBOX
                    && ofTenant.getOrDefault(of.ref().tenant(), 0L) + weight <= TENANT_BYTES
                    && bytes + weight <= ALL_BYTES;
        }

        private void weigh(int sign) {
            add(ofSandbox, of.uid(), sign);
            add(ofTenant, of.ref().tenant(), sign * weight);
            bytes += sign * weight;
        }

        private void join(MonoSink<Void> waits) {
            sink = waits;
            if (enter(this)) {
                beginCalled();
            } else {
                waits.error(refused(of, "as many wait already as may"));
            }
        }

        private void begin() {
            if (sink != null) {
                sink.success();
            }
        }

        private void leave() {
            end(this);
            beginCalled();
        }
    }
}
