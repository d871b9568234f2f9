package dev.sandglass.gateway.adoption;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.List;
import reactor.core.publisher.Mono;

/** The sandboxes that may need a link. All but {@link #mayBeBusy} read caches and never block. */
public interface Candidates {

    /** Whether all sandboxes, and the servers that they may call, are known. */
    boolean isKnown();

    /** All that run, of all tenants. */
    List<RunningSandbox> running();

    /** Whether code there may call a shared MCP server: for anything else it needs no link. */
    boolean mayCall(RunningSandbox sandbox);

    /** Whether anything may run there, by its activity Lease. Asks the API server; fails if that does not answer. */
    Mono<Boolean> mayBeBusy(RunningSandbox sandbox);
}
