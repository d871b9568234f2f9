package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.Verdict;
import dev.sandglass.egress.client.Client;
import dev.sandglass.egress.client.Clients;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All requests under way. Each is noted before its verdict, so that none slips through between a change of rules and the
 * look at those whom the change concerns.
 */
public final class Tunnels {

    private final Clients clients;
    private final ConcurrentHashMap<String, Set<Tunnel>> bySandbox = new ConcurrentHashMap<>();

    public Tunnels(Clients clients) {
        this.clients = clients;
        clients.onChange(this::check);
    }

    public void add(Tunnel tunnel) {
        bySandbox.compute(tunnel.client().uid(), (uid, open) -> {
            Set<Tunnel> all = open == null ? ConcurrentHashMap.newKeySet() : open;
            all.add(tunnel);
            return all;
        });
    }

    public void remove(Tunnel tunnel) {
        bySandbox.computeIfPresent(tunnel.client().uid(), (uid, open) -> {
            open.remove(tunnel);
            return open.isEmpty() ? null : open;
        });
    }

    /** The verdict as things are at this moment; empty if the sandbox is no longer at the address. */
    public Optional<Verdict> verdict(Tunnel tunnel) {
        return clients.at(tunnel.source())
                .filter(client -> client.uid().equals(tunnel.client().uid()))
                .map(Client::rules)
                .map(rules -> rules.decide(tunnel.target()));
    }

    private void check(String uid) {
        for (Tunnel tunnel : bySandbox.getOrDefault(uid, Set.of())) {
            if (verdict(tunnel).filter(Verdict.Allowed.class::isInstance).isEmpty()) {
                tunnel.end(End.RULE_GONE);
            }
        }
    }

    /** Ends tunnels whose readers stand still, of the sandbox that holds most first, until the rest is not too much. */
    public void shorten(Backlog backlog) {
        long over = backlog.excess();
        if (over <= 0) {
            return;
        }
        Duration patience = backlog.patience();
        List<Holder> holders = bySandbox.values().stream()
                .map(Holder::of)
                .sorted(Comparator.comparingLong(Holder::bytes).reversed())
                .toList();
        for (Holder holder : holders) {
            for (Held held : holder.tunnels()) {
                if (over > 0 && held.tunnel().hasStood(patience)) {
                    over -= held.bytes();
                    held.tunnel().end(End.STALLED);
                }
            }
        }
    }

    /** What a tunnel held when it was looked at. */
    private record Held(Tunnel tunnel, int bytes) {}

    /** One sandbox's tunnels, those that hold most first. */
    private record Holder(List<Held> tunnels, long bytes) {
        private static Holder of(Set<Tunnel> open) {
            List<Held> tunnels = open.stream()
                    .map(tunnel -> new Held(tunnel, tunnel.held()))
                    .sorted(Comparator.comparingInt(Held::bytes).reversed())
                    .toList();
            return new Holder(tunnels, tunnels.stream().mapToLong(Held::bytes).sum());
        }
    }

    public int count() {
        return bySandbox.values().stream().mapToInt(Set::size).sum();
    }
}
