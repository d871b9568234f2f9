package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.action.SandboxActions;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/** The sandboxes behind an endpoint, and the sessions that it gives to clients. */
public final class Places {

    private final String endpoint;
    private final TenantAccess access;
    private final SandboxActions lifecycle;
    private final Set<String> others;
    private final UnaryOperator<SandboxConfig> adapted;
    private final SessionIds ids;
    private final EndedSessions ended = new EndedSessions();

    /**
     * Those of an endpoint.
     *
     * @param endpoint its path
     * @param secret of the installation, so that every replica knows the sessions of the others
     * @param others keys of the query that the endpoint reads itself
     */
    public Places(
            String endpoint, TenantAccess access, SandboxActions lifecycle, LinkSecret secret, Set<String> others) {
        this(endpoint, access, lifecycle, secret, others, UnaryOperator.identity());
    }

    /**
     * The same of an endpoint with rules of its own for new sandboxes.
     *
     * @param adapted what it makes of the query's configuration; may throw
     *     {@link dev.sandglass.gateway.contract.InvalidArgument}
     */
    public Places(
            String endpoint,
            TenantAccess access,
            SandboxActions lifecycle,
            LinkSecret secret,
            Set<String> others,
            UnaryOperator<SandboxConfig> adapted) {
        this.endpoint = endpoint;
        this.access = access;
        this.lifecycle = lifecycle;
        this.others = Set.copyOf(others);
        this.adapted = adapted;
        this.ids = new SessionIds(secret, endpoint);
    }

    /**
     * The sandbox of a URL's calls.
     *
     * @throws dev.sandglass.gateway.contract.InvalidArgument if the query breaks a rule
     */
    public Place at(Query query) {
        return Place.of(access, endpoint, query, others, adapted);
    }

    /**
     * The sessions at a URL; none where it names the sandbox, which outlives its clients.
     *
     * @throws dev.sandglass.gateway.contract.InvalidArgument if the query breaks a rule
     */
    public Optional<Contract.Sessions> sessions(Query query) {
        Place place = at(query);
        return place.isNamed() ? Optional.empty() : Optional.of(new OfSandboxes(place));
    }

    /** A session is the name of a sandbox, and ends with it. */
    private final class OfSandboxes implements Contract.Sessions {
        private final Place place;

        private OfSandboxes(Place place) {
            this.place = place;
        }

        @Override
        public String begin(Caller caller) {
            return ids.issue(caller);
        }

        @Override
        public boolean knows(Caller caller, String session) {
            return ids.isOf(caller, session) && !ended.has(session);
        }

        @Override
        public Tool.Subject subject(Caller caller, String session) {
            return place.subject(caller, Optional.of(session));
        }

        @Override
        public void forget(String session) {
            ended.add(session);
        }

        @Override
        public Mono<Void> end(Caller caller, String session) {
            return Mono.defer(() -> lifecycle.delete(place.of(caller, Optional.of(session))))
                    .then()
                    // It was never used, or deleted by another way.
                    .onErrorComplete(SandboxProblem.NotFound.class)
                    .doOnSuccess(_ -> forget(session));
        }
    }
}
