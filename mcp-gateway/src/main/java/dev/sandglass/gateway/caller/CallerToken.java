package dev.sandglass.gateway.caller;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AbstractAuthenticationToken;

/** A request's caller in Spring Security's terms: first only what was presented, then the caller itself. */
final class CallerToken extends AbstractAuthenticationToken {

    private final transient @Nullable Caller caller;
    private final transient String presented;

    private CallerToken(String presented, @Nullable Caller caller) {
        super(List.of());
        this.presented = presented;
        this.caller = caller;
        setAuthenticated(caller != null);
    }

    static CallerToken presented(String token) {
        return new CallerToken(token, null);
    }

    static CallerToken of(Caller caller) {
        return new CallerToken("", caller);
    }

    String presented() {
        return presented;
    }

    @Override
    public Object getCredentials() {
        return "";
    }

    @Override
    public Object getPrincipal() {
        return caller == null ? "" : caller;
    }

    @Override
    public String getName() {
        return caller == null ? "" : caller.name();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    /** Never the token. */
    @Override
    public String toString() {
        return "CallerToken[" + getName() + "]";
    }
}
