package dev.sandglass.gateway.toolserver;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The MCP servers that agents registered in pods of their own: each is a resource of its own and serves one sandbox. Writes
 * to the API server; failures come as problems of the sandbox.
 */
public interface AgentServers {

    /** Most of them for one sandbox. */
    int MOST = 16;

    /** Most of them in one namespace. Replicas that register at the same moment may exceed it by at most their number. */
    int MOST_IN_NAMESPACE = 256;

    /** None, and none can be registered. */
    AgentServers NONE = new AgentServers() {
        @Override
        public Mono<Made> register(Owner owner, Wanted wanted) {
            return Mono.error(() -> new IllegalStateException("MCP servers of agents have no place here"));
        }

        @Override
        public Mono<Boolean> takeOver(Owner owner, SharedServer made) {
            return Mono.just(false);
        }

        @Override
        public Mono<Boolean> remove(Owner owner, String name) {
            return Mono.just(false);
        }

        @Override
        public Mono<Void> delete(SharedServer server) {
            return Mono.empty();
        }
    };

    /**
     * The sandbox whose code may call a server.
     *
     * @param tenant as callers write it
     * @param namespace in which it is
     * @param sandbox name of its resource
     * @param givenName as the caller wrote it
     * @param uid of its resource
     */
    record Owner(String tenant, String namespace, String sandbox, String givenName, String uid) {}

    /**
     * What is registered.
     *
     * @param registration how it is started or reached
     * @param allowedDomains what it may reach; null for the usual
     * @param createdBy the caller
     */
    record Wanted(Registration registration, @Nullable List<String> allowedDomains, String createdBy) {
        /** Keeps its own copy. */
        public Wanted {
            allowedDomains = allowedDomains == null ? null : List.copyOf(allowedDomains);
        }
    }

    /**
     * A server that was made.
     *
     * @param former that code calls under its name until it takes over; empty if there is none
     */
    record Made(SharedServer server, Optional<SharedServer> former) {}

    /**
     * Makes the resource, and a Secret with the values of variables and headers. One of that name that is there stays, and
     * code calls it until the new one takes over. Cancelling ends the waiting only, so that nothing half-made stays.
     */
    Mono<Made> register(Owner owner, Wanted wanted);

    /**
     * Deletes those of its name that were registered before that one, so that code calls it from now on.
     *
     * @return false if it is gone itself: removed, or overtaken by a later registration
     */
    Mono<Boolean> takeOver(Owner owner, SharedServer made);

    /** Deletes the server of that name; whether there was one. */
    Mono<Boolean> remove(Owner owner, String name);

    /** Deletes that very server, if it is still there. */
    Mono<Void> delete(SharedServer server);
}
