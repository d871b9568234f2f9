package dev.sandglass.gateway.testing;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServer.Bounds;
import dev.sandglass.gateway.toolserver.SharedServer.Identity;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Servers of agents in memory, whose pods run at once. */
public final class FakeAgentServers implements AgentServers {

    /** What was registered, in order. */
    public final List<Wanted> wanted = new CopyOnWriteArrayList<>();

    /** Names of resources that were deleted, in order. */
    public final List<String> deleted = new CopyOnWriteArrayList<>();

    /** How registrations fail; null if they do not. */
    public volatile @Nullable RuntimeException failure;

    private final FakeSharedServers shared;
    private final FakeSandboxes sandboxes;

    /** Puts them among these. */
    public FakeAgentServers(FakeSharedServers shared, FakeSandboxes sandboxes) {
        this.shared = shared;
        this.sandboxes = sandboxes;
    }

    @Override
    public Mono<Made> register(Owner owner, Wanted order) {
        return Mono.fromSupplier(() -> {
            RuntimeException broken = failure;
            if (broken != null) {
                throw broken;
            }
            String resource = order.registration().name().replace('_', '-') + "-" + (100 + wanted.size());
            wanted.add(order);
            sandboxes.addRunning(resource + "-mcp");
            var identity = new Identity(owner.namespace(), resource, "server-" + resource, 1);
            var server = new SharedServer(
                    identity, order.registration(), ToolRules.ALL, Bounds.DEFAULT, Optional.empty(), true);
            Optional<SharedServer> former = named(owner, server.name()).stream().findFirst();
            shared.put(server, Map.of(SandboxLabels.SANDBOX_UID, owner.uid()));
            return new Made(server, former);
        });
    }

    @Override
    public Mono<Boolean> takeOver(Owner owner, SharedServer made) {
        return Mono.fromSupplier(() -> {
            List<SharedServer> named = named(owner, made.name());
            named.stream().takeWhile(server -> !server.equals(made)).forEach(this::forget);
            return named.contains(made);
        });
    }

    @Override
    public Mono<Boolean> remove(Owner owner, String name) {
        return Mono.fromSupplier(() -> {
            List<SharedServer> named = named(owner, name);
            named.forEach(this::forget);
            return !named.isEmpty();
        });
    }

    /** The first registered first. */
    private List<SharedServer> named(Owner owner, String name) {
        return shared.all(owner.namespace(), Map.of(SandboxLabels.SANDBOX_UID, owner.uid())).stream()
                .filter(server -> server.ofAgent() && server.name().equals(name))
                .sorted(Comparator.comparing(server -> server.identity().resource()))
                .toList();
    }

    @Override
    public Mono<Void> delete(SharedServer server) {
        return Mono.fromRunnable(() -> forget(server));
    }

    private void forget(SharedServer server) {
        deleted.add(server.identity().resource());
        shared.remove(server);
    }
}
