package dev.sandglass.gateway.caller;

import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Finds out who sends a request. An implementation may ask other servers: its answers come when they are there, on any
 * thread. An error means that it cannot find out at the moment, and the request is refused with status 503.
 */
@FunctionalInterface
public interface Callers {

    /** Accepts everybody as one caller that may use every tenant: for development on one machine only. */
    Callers DEVELOPMENT = new Callers() {
        private final Caller everybody = new Caller("development", List.of(Caller.ALL_TENANTS));

        @Override
        public Mono<Caller> callerOf(String token) {
            return Mono.just(everybody);
        }

        @Override
        public Mono<Caller> named(String name) {
            return Mono.just(everybody).filter(caller -> caller.name().equals(name));
        }
    };

    /**
     * The caller of that bearer token; empty if no caller has it.
     *
     * @param token what followed {@code Bearer}; empty if the request had none
     */
    Mono<Caller> callerOf(String token);

    /**
     * The caller of that name, with the rights it has now; empty if there is none any more, or if callers of this kind are
     * known by their tokens alone. Whoever asks must have another proof that the caller wants what is done for it.
     */
    default Mono<Caller> named(String name) {
        return Mono.empty();
    }

    /** Whether an administrator gave that tenant to a caller by its name, and not by {@code *} alone. */
    default boolean nameTenant(String tenant) {
        return false;
    }
}
