package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.http.AcceptedTypes;
import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.quota.RequestScope;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST} to {@code /mcp} and the contracts below it: one message in, one answer out, as JSON or as a stream of events. Holds no state but the calls under
 * way; any replica serves any request.
 */
final class McpEndpoint {

    private static final Logger LOG = LoggerFactory.getLogger(McpEndpoint.class);

    /**
     * What a request under way takes besides its message: a connection, and what waits for its answer, some ten KiB.
     * Counted, a caller's calls that wait, an hour each if it likes, are 2,000 on a replica, half of its connections.
     */
    static final int BYTES_OF_A_REQUEST = 12 * 1024;

    private static final String CANCELLED = "notifications/cancelled";
    private static final Set<String> PROGRESSING = Set.of("tools/call", ResourceMethods.READ);
    private static final String RETRY_AFTER_SECONDS = "2";

    private final ContractPaths contracts;
    private final McpDispatcher dispatcher;
    private final McpSettings settings;
    private final JsonCodec codec;
    private final ByteBudget bodies;
    private final RunningCalls calls = new RunningCalls();
    private final CancellationRelay others;
    private final SessionEnds ends;

    /**
     * Serves these contracts.
     *
     * @param version of this gateway, for clients
     */
    McpEndpoint(
            ContractPaths contracts, AuditLog audit, String version, McpSettings settings, CancellationRelay others) {
        this.contracts = contracts;
        this.dispatcher = new McpDispatcher(version, audit);
        this.ends = new SessionEnds(audit, others);
        this.others = others;
        this.settings = settings;
        this.codec = new JsonCodec(settings.maxBodyBytes());
        this.bodies = new ByteBudget(settings.maxBytes(), settings.maxBytesPerCaller());
    }

    /** What the bodies of requests under way hold. */
    ByteBudget bodies() {
        return bodies;
    }

    Mono<Void> post(HttpExchange http, Caller caller) {
        // Until the answer is made what came is held: as bytes, then as the arguments of the call.
        return RequestScope.of(Mono.using(
                () -> bodies.share(caller.name()),
                share -> post(http, caller, new Allowance(bodies, share)),
                ByteBudget.Share::end));
    }

    private Mono<Void> post(HttpExchange http, Caller caller, Allowance allowance) {
        return Mono.defer(() -> http.body(settings.maxBodyBytes(), allowance))
                .map(codec::read)
                .doOnNext(message -> allowance.take(holds(message)))
                .flatMap(message -> answer(http, caller, message, allowance))
                .onErrorResume(McpError.class, problem -> error(http, problem, null));
    }

    /** Besides its bytes. A notification waits for nothing, and may be the cancellation that makes room. */
    private static long holds(ObjectNode message) {
        return JsonCodec.overhead(message) + (message.has("id") ? BYTES_OF_A_REQUEST : 0);
    }

    private Mono<Void> answer(HttpExchange http, Caller caller, ObjectNode message, Allowance allowance) {
        try {
            return switch (JsonCodec.message(message)) {
                case JsonRpc.Incoming.Request request -> answer(http, caller, request, allowance);
                case JsonRpc.Incoming.Notification notification -> accept(http, caller, notification);
                case JsonRpc.Incoming.Response nobodyWaits -> http.empty(HttpResponseStatus.ACCEPTED);
            };
        } catch (McpError problem) {
            return error(http, problem, JsonCodec.idOf(message));
        }
    }

    private Mono<Void> answer(
            HttpExchange http, Caller caller, JsonRpc.Incoming.Request incoming, Allowance allowance) {
        ProtocolRevision era = ProtocolRevision.of(incoming, http.headers());
        McpRequest request = asked(http, caller, incoming, era);
        // Before a stream begins: after its headers nothing can be refused.
        AcceptedTypes accepted = http.accepted();
        RunningCalls.Key key = key(http, caller, request.id());
        if (era == ProtocolRevision.LEGACY && request.method().equals("initialize")) {
            Client.welcome(http, caller, contract(http).sessions(Query.of(http.uri())));
        }
        return streams(accepted, request) ? stream(http, request, key, allowance) : json(http, request, key, allowance);
    }

    private McpRequest asked(
            HttpExchange http, Caller caller, JsonRpc.Incoming.Request incoming, ProtocolRevision era) {
        Contract contract = contract(http);
        Query query = Query.of(http.uri());
        try {
            boolean begins = era == ProtocolRevision.MODERN || incoming.method().equals("initialize");
            Optional<String> session = begins ? Optional.empty() : session(http, caller, contract.sessions(query));
            var client = new McpRequest.Origin(http.clientAddress(), contract.patience(query), session);
            Offer offer = contract.offer(query);
            return new McpRequest(
                    incoming.id(),
                    incoming.method(),
                    incoming.params(),
                    era,
                    caller,
                    client,
                    ContractPaths.nameOf(contract),
                    offer);
        } catch (InvalidArgument broken) {
            throw McpError.invalidRequest(broken.text());
        }
    }

    /** That of a message of the older revisions, where the contract has sessions of its own. */
    private static Optional<String> session(HttpExchange http, Caller caller, Optional<Contract.Sessions> sessions) {
        return sessions.flatMap(known -> Client.session(http, caller, known));
    }

    /** Whether a client can end its session here; {@link McpError} if the query breaks a rule. */
    boolean hasSessions(HttpExchange http) {
        return sessions(http).isPresent();
    }

    private Optional<Contract.Sessions> sessions(HttpExchange http) {
        try {
            return contract(http).sessions(Query.of(http.uri()));
        } catch (InvalidArgument broken) {
            throw McpError.invalidRequest(broken.text());
        }
    }

    /** {@code DELETE} of a session of a contract that has its own. */
    Mono<Void> endSession(HttpExchange http, Caller caller) {
        return Mono.defer(() ->
                        ends.end(http, caller, contract(http), sessions(http).orElseThrow(McpError::unknownSession)))
                .then(Mono.defer(() -> http.empty(HttpResponseStatus.NO_CONTENT)))
                .onErrorResume(McpError.class, problem -> error(http, problem, null));
    }

    /** The contract that a request asks: that of its path, without which it would not have come here. */
    private Contract contract(HttpExchange http) {
        return contracts
                .at(http.uri())
                .orElseThrow(() -> new IllegalStateException("No contract is at this path, which was routed here"));
    }

    /** Progress can only be streamed, to clients that name streams; else a stream is for those who take nothing else. */
    private static boolean streams(AcceptedTypes accepted, McpRequest request) {
        boolean wantsProgress = PROGRESSING.contains(request.method())
                && request.progressToken().isPresent();
        return !accepted.json() || (wantsProgress && accepted.namesEvents());
    }

    private Mono<Void> json(HttpExchange http, McpRequest request, RunningCalls.Key key, Allowance allowance) {
        return calls.cancellable(key, dispatched(http, request, OutputListener.NONE, allowance))
                .map(result -> new Reply(HttpResponseStatus.OK, JsonRpc.Answer.result(request.id(), result)))
                .switchIfEmpty(Mono.error(McpError::cancelled))
                .onErrorResume(problem -> Mono.just(Reply.of(known(problem), request.id())))
                .flatMap(reply -> write(http, reply));
    }

    private Mono<Void> stream(HttpExchange http, McpRequest request, RunningCalls.Key key, Allowance allowance) {
        var stream = new EventStream(codec, settings.keepAlive(), http.thread(), http::paced);
        @Nullable JsonNode token = request.progressToken().orElse(null);
        // The call is subscribed to behind the stream's queue, where the request's context does not come by itself.
        return Mono.deferContextual(context -> http.events(
                stream.of(token, progress -> calls.cancellable(key, dispatched(http, request, progress, allowance))
                        .contextWrite(context)
                        .map(result -> JsonRpc.Answer.result(request.id(), result))
                        .onErrorResume(problem -> Mono.just(JsonRpc.Answer.error(
                                request.id(), known(problem).problem()))))));
    }

    private Mono<Object> dispatched(
            HttpExchange http, McpRequest request, OutputListener progress, Allowance allowance) {
        return Mono.defer(() -> dispatcher.dispatch(new McpRequest.Call(request, progress, http.thread())))
                .doOnNext(result -> {
                    if (result instanceof ResourceResults.Weighed answer) {
                        allowance.take(answer.bytes());
                    }
                });
    }

    private Mono<Void> accept(HttpExchange http, Caller caller, JsonRpc.Incoming.Notification notification) {
        session(http, caller, sessions(http));
        Mono<Void> done = notification.method().equals(CANCELLED)
                ? cancel(http, caller, notification.params().path("requestId"))
                : Mono.empty();
        return done.then(Mono.defer(() -> http.empty(HttpResponseStatus.ACCEPTED)));
    }

    private Mono<Void> cancel(HttpExchange http, Caller caller, JsonNode id) {
        boolean found = calls.cancel(key(http, caller, id));
        LOG.atDebug()
                .addKeyValue("caller", caller.name())
                .addKeyValue("found", found)
                .log("Call cancelled");
        return found || !JsonCodec.isId(id) ? Mono.empty() : others.cancel(http, ContractPaths.of(contract(http)), id);
    }

    /** Answers that a request cannot be served. */
    Mono<Void> error(HttpExchange http, McpError problem, @Nullable JsonNode id) {
        if (problem.status().equals(HttpResponseStatus.SERVICE_UNAVAILABLE)) {
            http.add(HttpHeaderNames.RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        return write(http, Reply.of(problem, id));
    }

    /** An error as it is answered where no exchange of WebFlux came about. */
    byte[] written(McpError problem) {
        return codec.write(Reply.of(problem, null).answer());
    }

    private Mono<Void> write(HttpExchange http, Reply reply) {
        return http.json(reply.status(), codec.write(reply.answer()));
    }

    private static McpError known(Throwable problem) {
        if (problem instanceof McpError known) {
            return known;
        }
        LOG.atError().setCause(problem).log("Request failed by a fault of the gateway");
        return McpError.internal();
    }

    private RunningCalls.Key key(HttpExchange http, Caller caller, JsonNode id) {
        return new RunningCalls.Key(contract(http).path(), caller.name(), Client.of(http, others), id.toString());
    }

    /** What is answered as JSON. */
    private record Reply(HttpResponseStatus status, JsonRpc.Answer answer) {
        static Reply of(McpError problem, @Nullable JsonNode id) {
            return new Reply(problem.status(), JsonRpc.Answer.error(id, problem.problem()));
        }
    }
}
