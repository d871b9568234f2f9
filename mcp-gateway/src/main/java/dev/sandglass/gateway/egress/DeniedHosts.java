package dev.sandglass.gateway.egress;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * What sandboxes were denied, or did not reach though it is allowed, until it is told: the newest targets of each, each
 * once, and not longer than some minutes. Bounded in hosts, sandboxes and age, so that nothing a sandbox does makes it
 * grow.
 */
public final class DeniedHosts {

    /** Most targets that are kept of one sandbox. */
    public static final int MAX_HOSTS = 16;

    /** Most sandboxes; the one heard of longest ago goes first. */
    static final int MAX_SANDBOXES = 10_000;

    /** Longer ago, it explains nothing any more. */
    static final Duration MAX_AGE = Duration.ofMinutes(10);

    private final LongSupplier nanoTime;
    private final Map<String, Map<String, UnreachedHost>> bySandbox = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Map<String, UnreachedHost>> eldest) {
            return size() > MAX_SANDBOXES;
        }
    };
    private final Map<String, Set<MonoSink<Void>>> waiting = new ConcurrentHashMap<>();
    private volatile boolean hearing;

    /** Knows of none yet. */
    public DeniedHosts() {
        this(System::nanoTime);
    }

    DeniedHosts(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Now, as what is heard of is dated. */
    public long now() {
        return nanoTime.getAsLong();
    }

    /** Notes a denial; by any thread. */
    public void note(String sandboxUid, String target, String reason) {
        note(sandboxUid, new UnreachedHost.Denied(target, reason, now()));
    }

    /** Notes that an allowed target was not reached; by any thread. */
    public void noteFailure(String sandboxUid, String target, String why) {
        note(sandboxUid, new UnreachedHost.Failed(target, why, now()));
    }

    private void note(String sandboxUid, UnreachedHost host) {
        synchronized (this) {
            Map<String, UnreachedHost> hosts = bySandbox.computeIfAbsent(sandboxUid, uid -> new LinkedHashMap<>());
            // Put behind, where the newest are.
            hosts.remove(host.target());
            hosts.put(host.target(), host);
            if (hosts.size() > MAX_HOSTS) {
                hosts.remove(dispensable(hosts.values()).target());
            }
        }
        waiting.getOrDefault(sandboxUid, Set.of()).forEach(MonoSink::success);
    }

    /** A crawler meets dead hosts by the hundred; they are not to hide a denial, about which something can be done. */
    private static UnreachedHost dispensable(Collection<UnreachedHost> hosts) {
        return hosts.stream()
                .filter(UnreachedHost.Failed.class::isInstance)
                .findFirst()
                .orElseGet(() -> hosts.iterator().next());
    }

    /**
     * What was heard of that sandbox since that moment and was not told, oldest first; it counts as told from now on. What
     * was heard before waits for a call that began before, and is forgotten with age.
     */
    public synchronized List<UnreachedHost> take(String sandboxUid, long since) {
        List<UnreachedHost> taken = since(sandboxUid, since);
        Map<String, UnreachedHost> hosts = bySandbox.get(sandboxUid);
        if (hosts != null) {
            hosts.values().removeAll(taken);
            if (hosts.isEmpty()) {
                bySandbox.remove(sandboxUid);
            }
        }
        return taken;
    }

    /** The same, for what may be told to several: none of it counts as told. */
    public synchronized List<UnreachedHost> since(String sandboxUid, long since) {
        Map<String, UnreachedHost> hosts = bySandbox.get(sandboxUid);
        if (hosts == null) {
            return List.of();
        }
        long oldest = now() - MAX_AGE.toNanos();
        hosts.values().removeIf(host -> host.nanos() - oldest < 0);
        return hosts.values().stream().filter(host -> host.nanos() - since >= 0).toList();
    }

    /** Whether something heard since that moment is known of that sandbox. */
    public synchronized boolean hasSince(String sandboxUid, long nanos) {
        Map<String, UnreachedHost> hosts = bySandbox.get(sandboxUid);
        return hosts != null && hosts.values().stream().anyMatch(host -> host.nanos() - nanos >= 0);
    }

    /** Whether any replica of the egress proxy tells us; if not, there is nothing to wait for. */
    public boolean isHearing() {
        return hearing;
    }

    /** Notes whether any does; by whoever listens to them. */
    public void setHearing(boolean now) {
        hearing = now;
    }

    /** Completes when the next one of that sandbox is heard of, or else when that time is over. */
    public Mono<Void> next(String sandboxUid, Duration most) {
        return Mono.<Void>create(sink -> {
                    waiting.compute(sandboxUid, (uid, sinks) -> {
                        Set<MonoSink<Void>> all = sinks == null ? ConcurrentHashMap.newKeySet() : sinks;
                        all.add(sink);
                        return all;
                    });
                    sink.onDispose(() -> waiting.computeIfPresent(sandboxUid, (uid, sinks) -> {
                        sinks.remove(sink);
                        return sinks.isEmpty() ? null : sinks;
                    }));
                })
                .timeout(most, Mono.empty());
    }

    synchronized int sandboxes() {
        return bySandbox.size();
    }
}
