package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolserver.HandshakeNotes;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The door of this room: answers what code in sandboxes asks of the MCP servers that it shares with other sandboxes. Code
 * names a server, a tool and arguments. The link proves which sandbox asks; everything else follows from that.
 */
public final class ToolCalls implements PodCalls {

    /** Most bytes of arguments and results that are held for all tenants. */
    static final long ALL_BYTES = 32L * 1024 * 1024;

    /** Most of them for the sandboxes of one namespace: a third of the room is out of its reach. */
    static final long NAMESPACE_BYTES = 20L * 1024 * 1024;

    /** How often it is looked whether a server that is being started can start at all. */
    static final Duration LOOK = Duration.ofMillis(500);

    private final SharedServers servers;
    private final SharedServerList list;
    private final Sandboxes children;
    private final ServerPods pods;
    private final ServerUse use;
    private final Handshakes handshakes;
    private final RefusedHosts refusedHosts;
    private final ServerStarts starts;
    private final CallQueue queue = new CallQueue();
    private final ExecutionCounts counts = new ExecutionCounts();
    private final ByteBudget bytes;
    private final ToolCallLog log;
    private final Means means;

    /**
     * What is learned of servers beside their answers.
     *
     * @param notes where it is noted what servers are
     * @param denied what their pods did not reach
     */
    public record Reports(HandshakeNotes notes, DeniedHosts denied) {}

    /**
     * What time it is, and where work is done that takes some.
     *
     * @param clock for timeouts and what is repeated
     * @param worker reads long lists
     * @param nanoTime a monotonic clock
     * @param meters counts calls
     * @param notes where it is noted what servers are
     * @param denied what pods of servers did not reach
     */
    record Means(
            Scheduler clock,
            Scheduler worker,
            LongSupplier nanoTime,
            MeterRegistry meters,
            HandshakeNotes notes,
            DeniedHosts denied) {}

    /**
     * Answers for these servers.
     *
     * @param children the sandboxes in whose pods servers run
     * @param links the links to these
     * @param meters counts calls
     * @param reports what is learned of servers
     */
    public ToolCalls(
            SharedServers servers,
            SharedServerList list,
            Sandboxes children,
            Function<RunningSandbox, Link> links,
            MeterRegistry meters,
            Reports reports) {
        this(
                servers,
                list,
                children,
                links,
                new ByteBudget(ALL_BYTES, NAMESPACE_BYTES),
                new Means(
                        Schedulers.parallel(),
                        Schedulers.boundedElastic(),
                        System::nanoTime,
                        meters,
                        reports.notes(),
                        reports.denied()));
    }

    ToolCalls(
            SharedServers servers,
            SharedServerList list,
            Sandboxes children,
            Function<RunningSandbox, Link> links,
            ByteBudget bytes,
            Means means) {
        this.servers = servers;
        this.list = list;
        this.children = children;
        this.pods = new ServerPods(links);
        this.use = new ServerUse(children, means.clock());
        var writer = new HandshakeWriter(means.notes(), means.clock(), means.meters());
        this.handshakes = new Handshakes(pods, writer, means.clock(), means.worker());
        this.refusedHosts = new RefusedHosts(means.denied());
        this.starts =
                new ServerStarts(children, new ServerStarts.OfPods(pods, use, refusedHosts), handshakes, means.clock());
        this.bytes = bytes;
        this.log = new ToolCallLog(means.meters(), means.nanoTime());
        this.means = means;
    }

    @Override
    public Set<String> kinds() {
        return Asked.KINDS;
    }

    @Override
    public CompletableFuture<PodAnswer> answer(PodCall call) {
        var answer = new CompletableFuture<PodAnswer>();
        Disposable running = Mono.defer(() -> answered(call))
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("a call came to no end")))
                .subscribe(
                        given -> {
                            // It may have been given up on another thread.
                            if (!answer.complete(given)) {
                                given.gone().run();
                            }
                        },
                        answer::completeExceptionally);
        var _ = answer.whenComplete((_, _) -> {
            if (answer.isCancelled()) {
                running.dispose();
            }
        });
        return answer;
    }

    private Mono<PodAnswer> answered(PodCall call) {
        Asked asked = Asked.read(call);
        SharedServers.Asker asker = servers.asker(call.sandboxUid()).orElse(null);
        return switch (asked) {
            case Asked.Servers _ ->
                Mono.fromSupplier(
                        () -> new PodAnswer(new Answer(ServerListJson.of(list.of(call.sandboxUid())), Blob.EMPTY)));
            case Asked.Tools tools -> listed(known(asker, tools.server()), call, tools);
            case Asked.Call wanted -> called(known(asker, wanted.server()), call, wanted);
        };
    }

    /** It is not told whether there is such a server that this sandbox may not use, or none at all. */
    private SharedServers.Asker known(SharedServers.@Nullable Asker asker, String server) {
        if (asker == null) {
            log.count("none", CallProblem.NO_SERVER.word(), Duration.ZERO);
            throw noServer(server);
        }
        return asker;
    }

    private static LinkException noServer(String server) {
        return CallProblem.NO_SERVER.because("there is no MCP server '%s' that this sandbox may use".formatted(server));
    }

    private SharedServer found(SharedServers.Asker asker, String name, ToolCallLog.Entry entry) {
        SharedServer server = servers.find(asker, name).orElseThrow(() -> noServer(name));
        entry.of(server);
        return server;
    }

    private Mono<PodAnswer> called(SharedServers.Asker asker, PodCall call, Asked.Call asked) {
        ToolCallLog.Entry entry = log.begin(asker, call.executionId(), asked);
        ByteBudget.Share share = bytes.share(asker.namespace());
        Mono<PodAnswer> answer = Mono.defer(() -> {
            SharedServer server = found(asker, asked.server(), entry);
            check(server, asked.tool());
            count(asker, call.executionId(), server);
            take(share, asked.arguments().length());
            return inTurn(asker, server, pod -> pods.call(pod, server, asked))
                    .timeout(asked.timeout(), late(asked.timeout()), means.clock())
                    .map(result -> {
                        share.give(asked.arguments().length());
                        return given(server, result, share);
                    });
        });
        return kept(answer, entry, share);
    }

    private Mono<PodAnswer> listed(SharedServers.Asker asker, PodCall call, Asked.Tools asked) {
        ToolCallLog.Entry entry = log.begin(asker, call.executionId(), asked);
        ByteBudget.Share share = bytes.share(asker.namespace());
        Mono<PodAnswer> answer = Mono.defer(() -> {
            SharedServer server = found(asker, asked.server(), entry);
            return inTurn(asker, server, pod -> pods.tools(pod, server))
                    .doOnNext(tools -> take(share, tools.length()))
                    .publishOn(means.worker())
                    .map(tools -> listing(server, tools).json())
                    .map(tools -> new PodAnswer(new Answer(object(), tools), share::end));
        });
        return kept(answer, entry, share);
    }

    private ToolListing listing(SharedServer server, Blob tools) {
        ToolListing listing = ToolListing.of(server.name(), tools, server.rules())
                .orElseThrow(() -> CallProblem.FAILED.because(
                        "the pod of MCP server '%s' gave no list of tools".formatted(server.name())));
        list.knows(server, listing.tools());
        handshakes.listed(server, listing);
        return listing;
    }

    /**
     * Starts a server as its first call would, and lists its tools. The start goes on if it is cancelled.
     *
     * @param then what is done with the list, whose bytes count as those of a call until then
     * @return a {@link dev.sandglass.gateway.sandbox.SandboxProblem} if it does not start
     */
    public Mono<RegisteredServer> start(SharedServer server, Function<ToolListing, Mono<RegisteredServer>> then) {
        return Mono.using(
                () -> bytes.share(server.identity().namespace()),
                share -> Mono.firstWithSignal(started(server, share), refused(server))
                        .onErrorMap(LinkException.class, CallProblem::ofRegistration)
                        .flatMap(then),
                ByteBudget.Share::end);
    }

    private Mono<ToolListing> started(SharedServer server, ByteBudget.Share share) {
        return Mono.defer(() -> starts.ready(server))
                .flatMap(pod -> use.during(pod, pods.tools(pod, server)))
                .doOnNext(tools -> take(share, tools.length()))
                .publishOn(means.worker())
                .map(tools -> listing(server, tools))
                .onErrorMap(failure -> CallProblem.ofQuestion(server.name(), failure));
    }

    /** Fails when the operator says that there will be no pod, or the server is deleted: else it would be waited for. */
    private Mono<ToolListing> refused(SharedServer server) {
        return Flux.interval(LOOK, means.clock())
                .onBackpressureDrop()
                .map(_ -> servers.current(server.identity()))
                // A new one is not known at first.
                .skipUntil(Optional::isPresent)
                .<String>handle((now, sink) -> now.map(SharedServer::trouble)
                        .orElseGet(() -> Optional.of("it was removed or registered again meanwhile"))
                        .ifPresent(sink::next))
                .next()
                .flatMap(trouble -> Mono.error(CallProblem.NOT_RUNNING.because(
                        "MCP server '%s' is not running: %s".formatted(server.name(), trouble))));
    }

    /** Asks the server's pod when the turn comes; a pod that forgot the server, as after a restart, is told of it again. */
    private Mono<Blob> inTurn(
            SharedServers.Asker asker, SharedServer server, Function<RunningSandbox, Mono<Blob>> question) {
        Mono<Blob> once = Mono.defer(() -> starts.ready(server))
                .flatMap(pod -> use.during(
                        pod,
                        refusedHosts.named(pod, server, Mono.firstWithSignal(question.apply(pod), gone(pod, server)))));
        Mono<Blob> twice = once.onErrorResume(ToolCalls::isForgotten, _ -> {
            starts.forget(server);
            return once;
        });
        return queue.inTurn(server.identity().uid(), server.bounds().concurrency(), asker.uid(), twice)
                .onErrorMap(failure -> CallProblem.ofQuestion(server.name(), failure));
    }

    /** Fails when the pod ends: the link would wait for one to come back as long as a call may take. */
    private Mono<Blob> gone(RunningSandbox pod, SharedServer server) {
        return children.ends(pod)
                .next()
                .<Blob>flatMap(end -> Mono.error(CallProblem.FAILED.because(
                        "the pod of MCP server '%s' ended: %s; whether the call was carried out is not known"
                                .formatted(server.name(), end.why()))))
                .switchIfEmpty(Mono.never());
    }

    private static boolean isForgotten(Throwable failure) {
        return LinkException.unwrap(failure) instanceof LinkException why
                && why.isRefusal(CallProblem.NO_SERVER.word());
    }

    private static void check(SharedServer server, String tool) {
        String why =
                switch (server.rules().verdict(tool)) {
                    case ToolRules.Verdict.ALLOWED -> "";
                    case ToolRules.Verdict.ASK ->
                        "calls of this tool need a person's approval, which cannot be given yet; an administrator"
                                + " permits them by taking the tool out of spec.tools.ask of SandboxToolServer "
                                + server.identity().resource();
                    case ToolRules.Verdict.DENIED -> "the rules of this server do not let code call this tool";
                };
        if (!why.isEmpty()) {
            throw CallProblem.NOT_ALLOWED.because("%s.%s: %s".formatted(server.name(), tool, why));
        }
    }

    private void count(SharedServers.Asker asker, String execution, SharedServer server) {
        int most = server.bounds().callsPerExecution();
        if (!counts.count(asker.uid(), execution, server.identity().uid(), most)) {
            throw CallProblem.TOO_MANY.because(
                    "an execution makes at most %d calls of MCP server '%s'".formatted(most, server.name()));
        }
    }

    private static void take(ByteBudget.Share share, int length) {
        if (share.take(length) != ByteBudget.Taken.YES) {
            throw CallProblem.TOO_MANY.because(
                    "the gateway holds as many bytes of calls as it may; wait for other calls to be answered");
        }
    }

    private static PodAnswer given(SharedServer server, Blob result, ByteBudget.Share share) {
        int most = server.bounds().maxResultBytes();
        if (result.length() > most) {
            throw CallProblem.TOO_LARGE.because(
                    "the result has %d bytes; at most %d are taken of MCP server '%s'. Ask for less at a time."
                            .formatted(result.length(), most, server.name()));
        }
        take(share, result.length());
        return new PodAnswer(new Answer(object(), result), share::end);
    }

    private static Mono<Blob> late(Duration timeout) {
        return Mono.error(() -> CallProblem.TIMEOUT.because(
                "no answer within %s s; give timeout_s for another limit".formatted(timeout.toSeconds())));
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** What a call holds is given back at once if it has no answer; its end is counted and told. */
    private static Mono<PodAnswer> kept(Mono<PodAnswer> call, ToolCallLog.Entry entry, ByteBudget.Share share) {
        return call.doOnSuccess(_ -> entry.end(ToolCallLog.OK))
                .doOnError(failure -> {
                    share.end();
                    entry.end(outcome(failure));
                })
                .doOnCancel(() -> {
                    share.end();
                    entry.end(ToolCallLog.CANCELLED);
                });
    }

    private static String outcome(Throwable failure) {
        return failure instanceof LinkException known
                        && CallProblem.of(known.code()).isPresent()
                ? known.code()
                : ToolCallLog.FAULT;
    }

    /** Bytes of arguments and results that are held now. */
    public long heldBytes() {
        return bytes.held();
    }
}
