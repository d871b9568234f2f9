package dev.sandglass.gateway.testing;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.ServerName;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Shared servers in memory: each for the sandboxes of its namespace that have a label. */
public final class FakeSharedServers implements SharedServers {

    private final Map<String, Asker> askers = new ConcurrentHashMap<>();
    private final Map<String, Entry> servers = new ConcurrentHashMap<>();

    private record Entry(SharedServer server, Map<String, String> selector) {}

    /** A sandbox whose code may call. */
    public Asker add(String uid, String namespace, Map<String, String> labels) {
        var asker = new Asker(uid, namespace, uid.replace("uid-", ""), labels);
        askers.put(uid, asker);
        return asker;
    }

    /** Puts a server there, in place of the one of that namespace and name. */
    public void put(SharedServer server, Map<String, String> selector) {
        servers.put(server.identity().namespace() + "/" + server.identity().resource(), new Entry(server, selector));
    }

    /** Takes a server away. */
    public void remove(SharedServer server) {
        servers.remove(server.identity().namespace() + "/" + server.identity().resource());
    }

    /** One for all sandboxes of its namespace. */
    public void put(SharedServer server) {
        put(server, Map.of());
    }

    /** A server in {@code sandglass-default}. */
    public static SharedServer server(String resource, ToolRules rules, SharedServer.Bounds bounds) {
        return new SharedServer(identity(resource, 1), command(resource), rules, bounds, Optional.empty());
    }

    /** The same with the usual bounds. */
    public static SharedServer server(String resource) {
        return server(resource, ToolRules.ALL, SharedServer.Bounds.DEFAULT);
    }

    /** Which resource it is. */
    public static SharedServer.Identity identity(String resource, long generation) {
        return new SharedServer.Identity("sandglass-default", resource, "server-" + resource, generation);
    }

    /** How it is started: with a key among its arguments and variables. */
    public static Registration command(String resource) {
        return new Registration.Command(
                ServerName.ofResource(resource),
                "server",
                List.of("--key", "s3cr3t"),
                Map.of("TOKEN", "s3cr3t"),
                "",
                Duration.ofMinutes(2));
    }

    @Override
    public Optional<Asker> asker(String sandboxUid) {
        return Optional.ofNullable(askers.get(sandboxUid));
    }

    @Override
    public Optional<SharedServer> find(Asker asker, String name) {
        return usable(asker).stream()
                .filter(server -> server.name().equals(name))
                .findFirst();
    }

    /** Of several of one name, an administrator's counts, or the first. */
    @Override
    public List<SharedServer> usable(Asker asker) {
        var byName = new TreeMap<String, SharedServer>();
        all(asker.namespace(), asker.labels()).forEach(server -> byName.putIfAbsent(server.name(), server));
        return List.copyOf(byName.values());
    }

    @Override
    public boolean isBeingReplaced(Asker asker, String name) {
        return all(asker.namespace(), asker.labels()).stream()
                        .filter(server -> server.ofAgent() && server.name().equals(name))
                        .count()
                > 1;
    }

    /** Those for sandboxes of a namespace with these labels, those too that stand aside. */
    List<SharedServer> all(String namespace, Map<String, String> labels) {
        return servers.values().stream()
                .filter(entry -> entry.server().identity().namespace().equals(namespace)
                        && labels.entrySet().containsAll(entry.selector().entrySet()))
                .map(Entry::server)
                .sorted(Comparator.comparing(SharedServer::ofAgent)
                        .thenComparing(server -> server.identity().resource()))
                .toList();
    }

    @Override
    public Optional<SharedServer> current(SharedServer.Identity identity) {
        return servers.values().stream()
                .map(Entry::server)
                .filter(server -> server.identity().uid().equals(identity.uid()))
                .findFirst();
    }
}
