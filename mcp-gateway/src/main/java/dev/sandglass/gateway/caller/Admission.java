package dev.sandglass.gateway.caller;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Whether a request comes from a caller whom this installation knows. */
public sealed interface Admission {

    /** For failures of {@link Callers}; a token never comes here. */
    Logger LOG = LoggerFactory.getLogger(Admission.class);

    /**
     * It does.
     *
     * @param caller who sent it
     */
    record Admitted(Caller caller) implements Admission {}

    /**
     * It does not.
     *
     * @param challenge for {@code WWW-Authenticate} (RFC 6750, section 3)
     * @param message what to do about it
     */
    record Refused(String challenge, String message) implements Admission {}

    /**
     * It cannot be found out at the moment.
     *
     * @param message what to do about it
     */
    record Undecided(String message) implements Admission {}

    /**
     * Looks at a request's credentials.
     *
     * @param authorization the value of {@code Authorization}, or null without one
     * @return one answer, never an error
     */
    static Mono<Admission> of(Callers callers, @Nullable String authorization) {
        String token = bearerToken(authorization);
        return Mono.defer(() -> callers.callerOf(token))
                .<Admission>map(Admitted::new)
                .defaultIfEmpty(refused(token))
                .onErrorResume(problem -> {
                    LOG.atWarn()
                            .addKeyValue("error", problem.getClass().getName())
                            .log("A caller could not be found out");
                    return Mono.just(
                            new Undecided("Unavailable: credentials cannot be checked at the moment; try again"));
                });
    }

    private static Refused refused(String token) {
        return token.isEmpty()
                ? new Refused("Bearer realm=\"sandglass\"", "Unauthorized: send an API key as bearer token")
                : new Refused(
                        "Bearer realm=\"sandglass\", error=\"invalid_token\"",
                        "Unauthorized: this API key is not known");
    }

    private static String bearerToken(@Nullable String authorization) {
        String scheme = "Bearer ";
        return authorization != null && authorization.regionMatches(true, 0, scheme, 0, scheme.length())
                ? authorization.substring(scheme.length()).strip()
                : "";
    }
}
