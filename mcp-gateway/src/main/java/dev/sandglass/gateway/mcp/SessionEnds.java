package dev.sandglass.gateway.mcp;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** {@code DELETE} of a session of a contract that has its own: with the sandbox behind it, and for all replicas. */
final class SessionEnds {

    /** In audit lines and metrics it stands where a tool's name does. */
    static final String DEED = "sessions/delete";

    private final AuditLog audit;
    private final CancellationRelay others;

    SessionEnds(AuditLog audit, CancellationRelay others) {
        this.audit = audit;
        this.others = others;
    }

    /**
     * Ends the session that the request names, then tells the other replicas; one that another replica has ended is only
     * forgotten. Errors with {@link McpError}.
     */
    Mono<Void> end(HttpExchange http, Caller caller, Contract contract, Contract.Sessions known) {
        if (others.passedOn(http)) {
            return Mono.fromRunnable(() -> Client.session(http, caller, known).ifPresent(known::forget));
        }
        var origin = new AuditLog.Origin(caller, http.clientAddress(), ContractPaths.nameOf(contract));
        return Mono.defer(() -> end(http, caller, known, origin))
                .then(Mono.defer(() -> others.ended(http, ContractPaths.of(contract))));
    }

    private Mono<Void> end(HttpExchange http, Caller caller, Contract.Sessions known, AuditLog.Origin origin) {
        String session;
        try {
            session = Client.session(http, caller, known).orElseThrow(McpError::unknownSession);
        } catch (McpError unknown) {
            audit.begin(origin, DEED, Optional.empty()).ended("refused");
            throw unknown;
        }
        AuditLog.Entry entry = audit.begin(origin, DEED, Optional.of(known.subject(caller, session)));
        return Mono.defer(() -> known.end(caller, session))
                .doOnSuccess(_ -> entry.ended("ok"))
                .doOnCancel(entry::cancelled)
                .onErrorMap(problem -> {
                    if (isForTheClient(problem)) {
                        entry.ended("refused");
                        return unended(problem);
                    }
                    entry.failed(problem);
                    return McpError.refused(HttpResponseStatus.INTERNAL_SERVER_ERROR, McpError.FAULT);
                });
    }

    private static boolean isForTheClient(Throwable problem) {
        return problem instanceof SandboxProblem || problem instanceof InvalidNameException;
    }

    private static McpError unended(Throwable problem) {
        HttpResponseStatus status = problem instanceof SandboxProblem.Unavailable
                ? HttpResponseStatus.SERVICE_UNAVAILABLE
                : HttpResponseStatus.CONFLICT;
        return McpError.refused(status, String.valueOf(problem.getMessage()));
    }
}
