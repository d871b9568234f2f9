package dev.sandglass.gateway.toolcall;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.ServerAnswers;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** What the pods in which servers run are asked. Failures come as {@link LinkException}. */
final class ServerPods {

    private static final Duration PROMPT = Duration.ofSeconds(20);

    /** The pod keeps a call's time itself; how much longer its answer may be on the way. */
    private static final Duration GRACE = Duration.ofSeconds(10);

    private final Function<RunningSandbox, Link> links;
    private final AtomicLong ids = new AtomicLong();

    ServerPods(Function<RunningSandbox, Link> links) {
        this.links = links;
    }

    /** Starts the server, unless it runs in this version; says what it is when it can be called. */
    Mono<RegisteredServer.Info> register(RunningSandbox pod, SharedServer server) {
        var verb = new Verb.RegisterServer(
                server.registration(), false, server.identity().revision());
        Duration timeout = server.registration().timeout().plus(GRACE);
        return Mono.fromFuture(() -> links.apply(pod).ask(verb, timeout))
                .map(answer -> ServerAnswers.info(answer.json()));
    }

    /** The server's tools, as JSON. */
    Mono<Blob> tools(RunningSandbox pod, SharedServer server) {
        return Mono.fromFuture(() -> links.apply(pod).ask(new Verb.ListServerTools(server.name()), PROMPT))
                .map(Answer::blob);
    }

    /** Calls a tool; its result, as JSON. Cancelling gives the call up at the server. */
    Mono<Blob> call(RunningSandbox pod, SharedServer server, Asked.Call asked) {
        Duration timeout = server.bounds()
                .callTimeout()
                .filter(limit -> limit.compareTo(asked.timeout()) < 0)
                .orElse(asked.timeout());
        return Mono.create(sink -> {
            String id = Long.toString(ids.incrementAndGet(), Character.MAX_RADIX);
            Link link = links.apply(pod);
            var verb = new Verb.CallServerTool(
                    server.name(), asked.tool(), id, timeout, server.bounds().concurrency(), asked.arguments());
            // Longer than the server may take: calls of other replicas may be before this one.
            CompletableFuture<Answer> answered = link.ask(verb, asked.timeout().plus(GRACE));
            sink.onCancel(() -> cancel(link, id, answered));
            var _ = answered.whenComplete((answer, failure) -> {
                if (answer != null) {
                    sink.success(answer.blob());
                } else {
                    sink.error(LinkException.unwrap(failure));
                }
            });
        });
    }

    private static void cancel(Link link, String id, CompletableFuture<Answer> asked) {
        // If it is still here, it never goes; if it went, this goes after it.
        asked.cancel(false);
        var _ = link.ask(new Verb.CancelServerCall(id), PROMPT);
    }
}
