package dev.sandglass.gateway.caller;

import java.util.List;
import java.util.Optional;

/** Finds out who sends a request. */
@FunctionalInterface
public interface Callers {

    /** Accepts everybody as one caller that may use every tenant: for development on one machine only. */
    Callers DEVELOPMENT = new Callers() {
        private final Caller everybody = new Caller("development", List.of(Caller.ALL_TENANTS));

        @Override
        public Optional<Caller> callerOf(String token) {
            return Optional.of(everybody);
        }

        @Override
        public Optional<Caller> named(String name) {
            return Optional.of(everybody).filter(caller -> caller.name().equals(name));
        }
    };

    /**
     * The caller of that bearer token.
     *
     * @param token what followed {@code Bearer}; empty if the request had none
     */
    Optional<Caller> callerOf(String token);

    /**
     * The caller of that name, with the rights it has now; empty if there is none any more, or if callers of this kind are
     * known by their tokens alone. Whoever asks must have another proof that the caller wants what is done for it.
     */
    default Optional<Caller> named(String name) {
        return Optional.empty();
    }
}
