package dev.sandglass.gateway.testing;

import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.gateway.toolserver.HandshakeNotes;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Notes in memory. */
public final class FakeHandshakeNotes implements HandshakeNotes {

    /** By the name of the resource; a test may note what another replica learned. */
    public final Map<String, ServerHandshake> noted = new ConcurrentHashMap<>();

    /** What was written, in order, and what failed to be. */
    public final List<ServerHandshake> writes = new CopyOnWriteArrayList<>();

    /** How writes fail; null if they do not. */
    public volatile @Nullable RuntimeException failure;

    @Override
    public Optional<ServerHandshake> of(SharedServer.Identity server) {
        return Optional.ofNullable(noted.get(server.resource()));
    }

    @Override
    public Mono<Void> write(SharedServer.Identity server, ServerHandshake handshake) {
        return Mono.fromRunnable(() -> {
            writes.add(handshake);
            RuntimeException broken = failure;
            if (broken != null) {
                throw broken;
            }
            noted.put(server.resource(), handshake);
        });
    }
}
