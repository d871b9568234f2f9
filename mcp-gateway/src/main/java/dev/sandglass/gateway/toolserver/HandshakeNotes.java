package dev.sandglass.gateway.toolserver;

import dev.sandglass.api.toolserver.ServerHandshake;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** Where gateways note what they learned of shared servers, so that people see it (ADR 0028). */
public interface HandshakeNotes {

    /** Nothing is noted. */
    HandshakeNotes NONE = new HandshakeNotes() {
        @Override
        public Optional<ServerHandshake> of(SharedServer.Identity server) {
            return Optional.empty();
        }

        @Override
        public Mono<Void> write(SharedServer.Identity server, ServerHandshake handshake) {
            return Mono.empty();
        }
    };

    /** What is noted of a server, as far as is known. Never blocks. */
    Optional<ServerHandshake> of(SharedServer.Identity server);

    /** Notes it in place of that. Of a server that is gone nothing is noted, and that is no failure. */
    Mono<Void> write(SharedServer.Identity server, ServerHandshake handshake);
}
