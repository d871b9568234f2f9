package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.toolserver.SandboxToolServer;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/**
 * Deletes servers of agents that were to take the place of others, and whose gateway went before they did. Each replica looks
 * for them; a deletion that another one was faster with is none.
 */
public final class AbandonedServers implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(AbandonedServers.class);
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
        looking = Flux.interval(LOOK).onBackpressureDrop().subscribe(_ -> look());
    }

    void look() {
        known.abandoned(clock.instant()).forEach(server -> calls.later(() -> delete(server), () -> {}));
    }

    private void delete(SandboxToolServer server) {
        ObjectMeta meta = server.getMetadata();
        client.resource(server).delete();
        LOG.atInfo()
                .addKeyValue("namespace", meta.getNamespace())
                .addKeyValue("server", meta.getName())
                .log("A server that was registered anew never took the place of the former one, and was deleted");
    }

    @Override
    public void close() {
        looking.dispose();
        calls.close();
    }
}
