package dev.sandglass.gateway.caller;

import org.jspecify.annotations.Nullable;

/** Whether a request comes from somebody whom this installation knows. Pure. */
public sealed interface Admission {

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
     * Looks at a request's credentials.
     *
     * @param authorization the value of {@code Authorization}, or null without one
     */
    static Admission of(Callers callers, @Nullable String authorization) {
        String token = bearerToken(authorization);
        return callers.callerOf(token).<Admission>map(Admitted::new).orElseGet(() -> refused(token));
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
