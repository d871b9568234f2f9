package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.gateway.toolserver.HandshakeNotes;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.util.Map;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** Notes as an annotation on the Sandbox in which a server runs: the gateway may write these, and no status (ADR 0028). */
public final class KubernetesHandshakeNotes implements HandshakeNotes, AutoCloseable {

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private final KubernetesClient client;
    private final KubernetesSandboxes sandboxes;
    private final ApiCalls calls = new ApiCalls();

    /**
     * Does not connect.
     *
     * @param client closed by whoever made it
     * @param sandboxes knows what is noted
     */
    public KubernetesHandshakeNotes(KubernetesClient client, KubernetesSandboxes sandboxes) {
        this.client = client;
        this.sandboxes = sandboxes;
    }

    @Override
    public Optional<ServerHandshake> of(SharedServer.Identity server) {
        return sandboxes
                .resource(server.namespace(), SandboxToolServer.childName(server.resource()))
                .map(child -> child.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.MCP_HANDSHAKE))
                .flatMap(ServerHandshake::read);
    }

    @Override
    public Mono<Void> write(SharedServer.Identity server, ServerHandshake handshake) {
        String patch = Serialization.asJson(
                Map.of("metadata", Map.of("annotations", Map.of(SandboxLabels.MCP_HANDSHAKE, handshake.note()))));
        return calls.plainly(() -> client.resources(Sandbox.class)
                        .inNamespace(server.namespace())
                        .withName(SandboxToolServer.childName(server.resource()))
                        .patch(MERGE, patch))
                .onErrorResume(KubernetesHandshakeNotes::isGone, _ -> Mono.empty())
                .then();
    }

    private static boolean isGone(Throwable failure) {
        return failure instanceof KubernetesClientException known
                && known.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
    }

    @Override
    public void close() {
        calls.close();
    }
}
