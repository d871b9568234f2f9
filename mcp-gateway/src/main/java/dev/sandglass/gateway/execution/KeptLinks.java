package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.LinkTarget;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * Keeps the links to sandboxes in which executions run that no call follows, until the last one ended: their code reaches
 * shared MCP servers by a gateway that has a link to it, and by no other way. A kept link reads no output. Thread-safe.
 */
final class KeptLinks {

    /** Most of them at a time: a quarter of the links that a replica may have. */
    static final int MOST = 1024;

    /** How often each sandbox is asked what runs there. */
    static final Duration LOOK = Duration.ofMinutes(1);

    /** After so many looks in a row without an answer the sandbox is given up. */
    static final int MOST_SILENT_LOOKS = 5;

    private static final Duration PROMPT = Duration.ofSeconds(10);

    private final Function<RunningSandbox, Link> links;
    private final Function<RunningSandbox, Flux<SandboxEnd>> ends;
    private final int most;
    private final Duration look;
    private final Map<LinkTarget, Kept> kept = new ConcurrentHashMap<>();

    KeptLinks(Function<RunningSandbox, Link> links, Function<RunningSandbox, Flux<SandboxEnd>> ends) {
        this(links, ends, MOST, LOOK);
    }

    KeptLinks(
            Function<RunningSandbox, Link> links,
            Function<RunningSandbox, Flux<SandboxEnd>> ends,
            int most,
            Duration look) {
        this.links = links;
        this.ends = ends;
        this.most = most;
        this.look = look;
    }

    /** Keeps the link to a sandbox in which something runs; false if there are too many already. */
    boolean keep(RunningSandbox sandbox) {
        var fresh = new Kept(sandbox, links.apply(sandbox));
        synchronized (this) {
            if (kept.containsKey(target(sandbox))) {
                return true;
            }
            if (kept.size() >= most) {
                return false;
            }
            kept.put(target(sandbox), fresh);
        }
        fresh.begin();
        return true;
    }

    /**
     * Asks the sandbox what runs there, and keeps the link if anything does; else closes it again, unless it was open
     * before. Never fails.
     */
    Mono<Adopted> adopt(RunningSandbox sandbox) {
        return Mono.defer(() -> {
            if (kept.containsKey(target(sandbox))) {
                return Mono.just(Adopted.KEPT_BEFORE);
            }
            if (kept.size() >= most) {
                return Mono.just(Adopted.TOO_MANY);
            }
            Link link = links.apply(sandbox);
            boolean wasOpen = link.isOpen();
            return Mono.fromFuture(() -> link.ask(new Verb.ListAll(), PROMPT))
                    .map(answer -> adopted(sandbox, answer))
                    .onErrorReturn(Adopted.UNREACHABLE)
                    .doOnNext(what -> {
                        if (what != Adopted.ADOPTED && !wasOpen) {
                            link.release();
                        }
                    });
        });
    }

    private Adopted adopted(RunningSandbox sandbox, Answer answer) {
        if (!runs(answer.json())) {
            return Adopted.IDLE;
        }
        return keep(sandbox) ? Adopted.ADOPTED : Adopted.TOO_MANY;
    }

    /** How many links are kept now. */
    int size() {
        return kept.size();
    }

    /** Of all that the sandbox tells of: what runs may be older than what is told to callers. */
    private static boolean runs(JsonNode list) {
        return StreamSupport.stream(list.path("executions").spliterator(), false)
                .map(execution -> execution.path("state").asString(""))
                .anyMatch(state -> state.equals("queued") || state.equals("running"));
    }

    /** Where a sandbox's supervisor listens, and what the keys of its link derive from. */
    static LinkTarget target(RunningSandbox sandbox) {
        return new LinkTarget(sandbox.uid(), sandbox.incarnation(), sandbox.seat(), sandbox.address(), sandbox.port());
    }

    /** One of them. Its looks are one after the other, on the link's thread. */
    private final class Kept {
        private final RunningSandbox sandbox;
        private final Link link;
        private final Disposable.Composite held = Disposables.composite();
        private final Disposable.Swap timer = Disposables.swap();
        private int silent;

        private Kept(RunningSandbox sandbox, Link link) {
            this.sandbox = sandbox;
            this.link = link;
        }

        void begin() {
            held.add(timer);
            // A listener is what keeps the connection, and tries for it when it breaks.
            held.add(link.events(_ -> {})::close);
            held.add(ends.apply(sandbox).subscribe(this::ended));
            lookLater();
        }

        private void ended(SandboxEnd end) {
            if (end instanceof SandboxEnd.PodGone) {
                letGo();
            }
        }

        private void lookLater() {
            timer.update(link.after(look, this::look)::close);
        }

        private void look() {
            var _ = link.ask(new Verb.ListAll(), PROMPT).whenComplete(this::looked);
        }

        private void looked(@Nullable Answer answer, @Nullable Throwable failure) {
            silent = answer == null ? silent + 1 : 0;
            if (answer == null ? silent >= MOST_SILENT_LOOKS : !runs(answer.json())) {
                letGo();
            } else if (!held.isDisposed()) {
                lookLater();
            }
        }

        private void letGo() {
            kept.remove(target(sandbox), this);
            held.dispose();
        }
    }
}
