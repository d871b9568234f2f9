package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Deletes servers of agents that were to take the place of others, and whose gateway went before they did. Each replica looks
 * for them; a deletion that another one was faster with is none.
 */
public final class AbandonedServers implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(AbandonedServers.class);
    private static final int MAX_CAUSE = 500;
    private static final Duration LOOK = Duration.ofMinutes(5);

    private final KubernetesClient client;
    private final SharedToolServers known;
    private final Clock clock;
    private final ApiCalls calls = new ApiCalls();
    private Disposable looking = Disposables.disposed();

    /**
     * Does nothing before {@link #start}.
     *
     * @param client closed by whoever made it
     */
    public AbandonedServers(KubernetesClient client, SharedToolServers known, Clock clock) {
        this.client = client;
        this.known = known;
        this.clock = clock;
    }

    /** Looks every few minutes. */
    public void start() {
        looking =
                Flux.interval(LOOK).onBackpressureDrop().concatMap(_ -> look()).subscribe();
    }

    /** Looks once. What fails is done the next time. */
    Mono<Void> look() {
        return Mono.defer(() -> {
            Instant now = clock.instant();
            return Flux.fromIterable(known.abandoned(now))
                    .concatMap(server -> calls.plainly(() -> delete(server, now))
                            .doOnError(failure -> LOG.atWarn()
                                    .addKeyValue(
                                            "namespace", server.getMetadata().getNamespace())
                                    .addKeyValue("server", server.getMetadata().getName())
                                    .addKeyValue(
                                            "cause", ForeignText.line(String.valueOf(failure.getMessage()), MAX_CAUSE))
                                    .log("An abandoned server could not be deleted, trying again"))
                            .onErrorComplete())
                    .then();
        });
    }

    /** The cache may be old: what it shows as aside may have taken its name over long ago. */
    private boolean delete(SandboxToolServer server, Instant now) {
        ObjectMeta meta = server.getMetadata();
        List<SandboxToolServer> named = client
                .resources(SandboxToolServer.class)
                .inNamespace(meta.getNamespace())
                .withLabels(Map.of(
                        SandboxLabels.MANAGED_BY,
                        AgentServerWrites.GATEWAY,
                        SandboxLabels.SANDBOX_UID,
                        AgentServerWrites.ownerUid(server)))
                .list()
                .getItems()
                .stream()
                .filter(other -> AgentServerWrites.givenName(other).equals(AgentServerWrites.givenName(server)))
                .toList();
        if (Succession.abandoned(named, now).stream()
                .noneMatch(other -> other.getMetadata().getUid().equals(meta.getUid()))) {
            return false;
        }
        client.resource(server).delete();
        LOG.atInfo()
                .addKeyValue("namespace", meta.getNamespace())
                .addKeyValue("server", meta.getName())
                .log("A server that was registered anew never took the place of the former one, and was deleted");
        return true;
    }

    @Override
    public void close() {
        looking.dispose();
        calls.close();
    }
}
