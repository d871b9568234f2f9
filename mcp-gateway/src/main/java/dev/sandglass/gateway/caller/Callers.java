package dev.sandglass.gateway.caller;

import java.util.List;
import java.util.Optional;

/** Finds out who sends a request. */
@FunctionalInterface
public interface Callers {

    /** Accepts everybody as one caller that may use every tenant: for development on one machine only. */
    Callers DEVELOPMENT = token -> Optional.of(new Caller("development", List.of(Caller.ALL_TENANTS)));

    /**
     * The caller of that bearer token.
     *
     * @param token what followed {@code Bearer}; empty if the request had none
     */
    Optional<Caller> callerOf(String token);
}
