package dev.sandglass.egress.client;

import dev.sandglass.api.egress.IpAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Requests from seats whose claim this proxy has not seen yet. Code runs in a seat from its claim on, and may ask before the
 * watches have told of the claim, or of the sandbox. No thread waits here, and no more requests than the bounds allow.
 */
public final class ClaimWaits {

    /** How long a request waits for the claim of its seat. */
    public static final Duration PATIENCE = Duration.ofMillis(500);

    /** Requests of one seat that wait at a time; as many as a sandbox has tunnels, if the installation says nothing else. */
    public static final int MOST_OF_ONE = 64;

    /** Requests of all seats that wait at a time: of 32 seats that all ask for as much as they may. */
    public static final int MOST = 2048;

    private final Clients clients;
    private final Duration patience;
    private final int mostOfOne;
    private final int most;
    private final Map<IpAddress, Set<CompletableFuture<Boolean>>> byAddress = new ConcurrentHashMap<>();
    private final AtomicInteger waiting = new AtomicInteger();

    /** Waits for claims that those clients report. */
    public ClaimWaits(Clients clients) {
        this(clients, PATIENCE, MOST_OF_ONE, MOST);
    }

    /**
     * The same with other bounds.
     *
     * @param patience of one request
     * @param mostOfOne requests of one seat that wait at a time
     * @param most requests of all seats that wait at a time
     */
    public ClaimWaits(Clients clients, Duration patience, int mostOfOne, int most) {
        this.clients = clients;
        this.patience = patience;
        this.mostOfOne = mostOfOne;
        this.most = most;
        clients.onChange(uid -> wake());
    }

    /**
     * Whether a sandbox is known at that address within the patience. False at once if too many wait already.
     *
     * @return completed by any thread
     */
    CompletionStage<Boolean> at(IpAddress source) {
        var wait = new CompletableFuture<Boolean>();
        if (!enter(source, wait)) {
            return CompletableFuture.completedStage(false);
        }
        var _ = wait.whenComplete((seen, failure) -> leave(source, wait));
        // What was told before this entered woke nobody.
        if (isKnown(source)) {
            wait.complete(true);
        }
        return wait.completeOnTimeout(false, patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    private boolean isKnown(IpAddress source) {
        return clients.at(source).isPresent();
    }

    private void wake() {
        byAddress.forEach((source, waits) -> {
            if (isKnown(source)) {
                waits.forEach(wait -> wait.complete(true));
            }
        });
    }

    private boolean enter(IpAddress source, CompletableFuture<Boolean> wait) {
        if (waiting.incrementAndGet() > most) {
            waiting.decrementAndGet();
            return false;
        }
        Set<CompletableFuture<Boolean>> there = Objects.requireNonNull(byAddress.compute(source, (same, waits) -> {
            Set<CompletableFuture<Boolean>> all = waits == null ? ConcurrentHashMap.newKeySet() : waits;
            if (all.size() < mostOfOne) {
                all.add(wait);
            }
            return all;
        }));
        if (there.contains(wait)) {
            return true;
        }
        waiting.decrementAndGet();
        return false;
    }

    private void leave(IpAddress source, CompletableFuture<Boolean> wait) {
        byAddress.computeIfPresent(source, (same, waits) -> {
            waits.remove(wait);
            return waits.isEmpty() ? null : waits;
        });
        waiting.decrementAndGet();
    }

    /** How many wait now. */
    public int count() {
        return waiting.get();
    }
}
