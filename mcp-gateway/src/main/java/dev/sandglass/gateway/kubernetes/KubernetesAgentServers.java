package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

/**
 * MCP servers of agents as resources, whose values lie in Secrets: the gateway creates these and can neither read, change
 * nor list any. The API server is asked for what there is, so that no replica counts or replaces by an old cache.
 */
public final class KubernetesAgentServers implements AgentServers, AutoCloseable {

    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

    private final KubernetesClient client;
    private final SharedServers known;
    private final ApiCalls calls = new ApiCalls();
    private final SecureRandom random = new SecureRandom();

    /**
     * Does not connect.
     *
     * @param client closed by whoever made it
     * @param known how many there are in a namespace
     */
    public KubernetesAgentServers(KubernetesClient client, SharedServers known) {
        this.client = client;
        this.known = known;
    }

    @Override
    public Mono<Made> register(Owner owner, Wanted wanted) {
        return whole(owner, wanted.registration().name(), () -> registered(owner, wanted));
    }

    /** Goes on if it is cancelled: an interrupt between two writes would leave half of them. */
    private <T> Mono<T> whole(Owner owner, String name, Callable<T> call) {
        return Mono.defer(
                () -> Mono.fromFuture(calls.about(ref(owner), name, call).toFuture(), true));
    }

    private static SandboxRef ref(Owner owner) {
        return new SandboxRef(owner.tenant(), owner.namespace(), owner.sandbox(), owner.givenName());
    }

    /** The resource comes first, since the Secret names its UID; the server's pod waits for the Secret. */
    private Made registered(Owner owner, Wanted wanted) {
        String name = wanted.registration().name();
        List<SandboxToolServer> present = of(owner);
        List<SandboxToolServer> former = named(present, name);
        check(owner, othersThan(present, name), known.ofAgents(owner.namespace()) - former.size());
        // So that of one name there are two at a time, however often it is registered.
        Succession.overtaken(former).forEach(this::delete);
        SandboxToolServer made = client.resource(
                        AgentServerWrites.resource(owner, wanted, suffix(), Succession.next(former)))
                .create();
        try {
            AgentServerWrites.secret(made, wanted.registration())
                    .ifPresent(secret -> client.resource(secret).create());
        } catch (RuntimeException failure) {
            calls.later(() -> delete(made), () -> {});
            throw failure;
        }
        return new Made(
                ToolServerReader.read(made)
                        .orElseThrow(() -> new IllegalStateException("What was registered cannot be read")),
                Succession.serving(former).flatMap(ToolServerReader::read));
    }

    /** Names count, and not resources: one that is registered anew has two of them for a moment. */
    private static int othersThan(List<SandboxToolServer> present, String name) {
        return (int) present.stream()
                .map(AgentServerWrites::givenName)
                .filter(other -> !other.equals(name))
                .distinct()
                .count();
    }

    private static void check(Owner owner, int ofSandbox, int ofNamespace) {
        if (ofSandbox >= MOST) {
            throw tooMany("sandbox '%s' has %d MCP servers in pods of their own, which is the most"
                    .formatted(owner.givenName(), ofSandbox));
        }
        if (ofNamespace >= MOST_IN_NAMESPACE) {
            throw tooMany("namespace '%s' has %d MCP servers that agents registered, which is the most"
                    .formatted(owner.tenant(), ofNamespace));
        }
    }

    private static ServerRefused tooMany(String why) {
        return new ServerRefused(
                ServerRefused.Cause.TOO_MANY, "Not registered: " + why + ".", NextStep.Plain.REMOVE_A_SERVER);
    }

    @Override
    public Mono<Boolean> takeOver(Owner owner, SharedServer made) {
        return whole(owner, made.name(), () -> {
            List<SandboxToolServer> present = named(of(owner), made.name());
            Optional<SandboxToolServer> own = present.stream()
                    .filter(resource ->
                            made.identity().uid().equals(resource.getMetadata().getUid()))
                    .findFirst();
            own.ifPresent(found -> Succession.before(present, found).forEach(this::delete));
            return own.isPresent();
        });
    }

    @Override
    public Mono<Boolean> remove(Owner owner, String name) {
        return whole(owner, name, () -> {
            List<SandboxToolServer> present = named(of(owner), name);
            present.forEach(this::delete);
            return !present.isEmpty();
        });
    }

    @Override
    public Mono<Void> delete(SharedServer server) {
        SharedServer.Identity identity = server.identity();
        var owner = new Owner(identity.namespace(), identity.namespace(), identity.resource(), server.name(), "");
        return whole(owner, server.name(), () -> client.resources(SandboxToolServer.class)
                        .inNamespace(identity.namespace())
                        .withName(identity.resource())
                        .delete())
                .then();
    }

    private List<SandboxToolServer> of(Owner owner) {
        return client.resources(SandboxToolServer.class)
                .inNamespace(owner.namespace())
                .withLabels(AgentServerWrites.labels(owner))
                .list()
                .getItems();
    }

    private static List<SandboxToolServer> named(List<SandboxToolServer> present, String name) {
        return present.stream()
                .filter(resource -> AgentServerWrites.givenName(resource).equals(name))
                .toList();
    }

    /** The names are unlike all others, so that no other resource is meant. */
    private void delete(SandboxToolServer resource) {
        client.resource(resource).delete();
    }

    private String suffix() {
        return random.ints(AgentServerWrites.SUFFIX, 0, LETTERS.length())
                .mapToObj(index -> String.valueOf(LETTERS.charAt(index)))
                .collect(Collectors.joining());
    }

    @Override
    public void close() {
        calls.close();
    }
}
