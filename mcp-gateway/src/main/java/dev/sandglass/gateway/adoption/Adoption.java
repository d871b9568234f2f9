package dev.sandglass.gateway.adoption;

import dev.sandglass.gateway.execution.Adopted;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The door of this room. When this replica starts, and when another one stops serving, it looks at its share of the running
 * sandboxes and keeps a link to those in which something runs: their code may call shared MCP servers, for which it needs a
 * gateway, and the one that followed it may be gone. Thread-safe.
 */
public final class Adoption implements AutoCloseable {

    /** The time between two sandboxes that are looked at: a handshake takes of the loop that serves all callers. */
    static final Duration PACE = Duration.ofMillis(20);

    /** Most sandboxes that are looked at at a time: one that does not answer takes its place for ten seconds. */
    static final int AT_ONCE = 16;

    /** After that time a look is repeated once, for sandboxes that could not be told or reached. */
    static final Duration AGAIN = Duration.ofSeconds(30);

    /** By up to that much later, so that not all replicas do it in one moment. */
    static final Duration JITTER = Duration.ofSeconds(10);

    /** How often it is seen whether all is known by now. */
    static final Duration SYNC = Duration.ofSeconds(1);

    /** No look at one sandbox takes longer. */
    static final Duration LONGEST = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(Adoption.class);

    private final Candidates candidates;
    private final Function<RunningSandbox, Mono<Adopted>> adopt;
    private final Means means;
    private final AdoptionQueue queue = new AdoptionQueue(AT_ONCE);
    private final Disposable.Composite held = Disposables.composite();
    private final Disposable.Swap first = Disposables.swap();
    private final Disposable.Swap second = Disposables.swap();
    private Peers peers;
    private boolean started;
    private @Nullable Disposable ticks;

    /**
     * What time it is, and where work is done that takes some.
     *
     * @param clock for what is done later
     * @param worker goes through all sandboxes
     * @param meters counts outcomes
     */
    record Means(Scheduler clock, Scheduler worker, MeterRegistry meters) {}

    /**
     * Does nothing before {@link #start}.
     *
     * @param self name of this replica, as its EndpointSlices call it
     * @param adopt keeps the link to a sandbox if anything runs there
     */
    public Adoption(
            String self, Candidates candidates, Function<RunningSandbox, Mono<Adopted>> adopt, MeterRegistry meters) {
        this(self, candidates, adopt, new Means(Schedulers.parallel(), Schedulers.boundedElastic(), meters));
    }

    Adoption(String self, Candidates candidates, Function<RunningSandbox, Mono<Adopted>> adopt, Means means) {
        this.candidates = candidates;
        this.adopt = adopt;
        this.means = means;
        this.peers = new Peers(self, Set.of());
        held.add(first);
        held.add(second);
    }

    /** Looks as soon as the sandboxes are known: the process before this one may have died. */
    public void start() {
        synchronized (this) {
            started = true;
        }
        look();
    }

    /** Says which other replicas serve; when one of them does no more, this one looks what is left to it. */
    public void serving(Set<String> others) {
        boolean lost;
        synchronized (this) {
            Peers before = peers;
            peers = new Peers(before.self(), others);
            lost = started && peers.lackAnyOf(before);
        }
        if (lost) {
            look();
        }
    }

    private void look() {
        if (!candidates.isKnown()) {
            first.update(means.clock().schedule(this::look, SYNC.toMillis(), TimeUnit.MILLISECONDS));
            return;
        }
        long later = AGAIN.toMillis() + ThreadLocalRandom.current().nextLong(JITTER.toMillis());
        lookNow();
        second.update(means.clock().schedule(this::lookNow, later, TimeUnit.MILLISECONDS));
    }

    private void lookNow() {
        first.update(means.worker().schedule(this::addOwn));
    }

    private void addOwn() {
        Peers now;
        synchronized (this) {
            now = peers;
        }
        List<RunningSandbox> own = candidates.running().stream()
                .filter(sandbox -> now.isOfSelf(sandbox.uid()))
                .filter(candidates::mayCall)
                .toList();
        synchronized (this) {
            queue.add(own);
            if (!queue.isDone() && ticks == null && !held.isDisposed()) {
                ticks = means.clock().schedulePeriodically(this::step, 0, PACE.toMillis(), TimeUnit.MILLISECONDS);
                held.add(ticks);
            }
        }
    }

    private void step() {
        Optional<RunningSandbox> next;
        Map<Outcome, Integer> ended;
        synchronized (this) {
            next = queue.next();
            if (next.isEmpty() && !queue.isDone()) {
                return;
            }
            ended = next.isEmpty() ? stopTicks() : Map.of();
        }
        next.ifPresent(this::lookAt);
        if (!ended.isEmpty()) {
            LoggingEventBuilder line = LOG.atInfo();
            for (Map.Entry<Outcome, Integer> each : ended.entrySet()) {
                line = line.addKeyValue(each.getKey().word(), each.getValue());
            }
            line.log("Looked for sandboxes in which code runs without a gateway");
        }
    }

    private Map<Outcome, Integer> stopTicks() {
        if (ticks != null) {
            held.remove(ticks);
            ticks.dispose();
            ticks = null;
        }
        return queue.outcomes();
    }

    private void lookAt(RunningSandbox sandbox) {
        Disposable.Swap running = Disposables.swap();
        held.add(running);
        running.update(Mono.defer(() -> candidates.mayBeBusy(sandbox))
                .flatMap(busy -> busy ? adopt.apply(sandbox).map(Outcome::of) : Mono.just(Outcome.NOT_BUSY))
                .timeout(LONGEST, means.clock())
                .defaultIfEmpty(Outcome.FAILED)
                .onErrorResume(failure -> {
                    LOG.atDebug()
                            .addKeyValue("uid", sandbox.uid())
                            .addKeyValue("cause", failure.toString())
                            .log("Whether a sandbox is busy is not known");
                    return Mono.just(Outcome.FAILED);
                })
                .subscribe(outcome -> {
                    held.remove(running);
                    ended(sandbox, outcome);
                }));
    }

    private void ended(RunningSandbox sandbox, Outcome outcome) {
        synchronized (this) {
            queue.ended(outcome);
        }
        means.meters().counter("sandglass.adoptions", "outcome", outcome.word()).increment();
        if (outcome == Outcome.ADOPTED) {
            LOG.atInfo()
                    .addKeyValue("namespace", sandbox.ref().namespace())
                    .addKeyValue("sandbox", sandbox.ref().name())
                    .addKeyValue("uid", sandbox.uid())
                    .log("Adopted a sandbox in which code runs without a gateway");
        }
    }

    /** Looks no more; what was adopted stays so. */
    @Override
    public void close() {
        held.dispose();
    }
}
