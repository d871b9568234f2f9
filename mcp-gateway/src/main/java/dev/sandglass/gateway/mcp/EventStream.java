package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.execution.OutputListener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;

/**
 * The server-sent events of one request: progress while it runs, then its answer. Each event is a publisher of its own,
 * because the server writes and flushes them one after the other and so tells us when the client took the last one: that
 * is the back-pressure that reaches the code in the sandbox.
 */
final class EventStream {

    private static final byte[] KEEP_ALIVE = ": keep-alive\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] DATA = "event: message\ndata: ".getBytes(StandardCharsets.UTF_8);
    private static final byte[] END = "\n\n".getBytes(StandardCharsets.UTF_8);

    private final JsonCodec codec;
    private final Duration keepAlive;
    private final Scheduler thread;

    EventStream(JsonCodec codec, Duration keepAlive, Scheduler thread) {
        this.codec = codec;
        this.keepAlive = keepAlive;
        this.thread = thread;
    }

    /**
     * The events of a call. Subscribing starts it; cancelling, as the server does when the client is gone, gives it up.
     *
     * @param progressToken of the client, or null if it wants no progress
     * @param call makes the call's answer, given who listens to its output; an empty one ends the stream without answer
     */
    Flux<Publisher<ByteBuf>> of(@Nullable JsonNode progressToken, Function<OutputListener, Mono<?>> call) {
        Flux<Publisher<ByteBuf>> events = Flux.create(sink -> {
            OutputListener listener =
                    progressToken == null ? OutputListener.NONE : new ProgressWriter(sink, progressToken);
            Disposable.Composite held = Disposables.composite();
            // First of all: a call that throws ends the sink, and nothing but the sink.
            sink.onDispose(held);
            held.add(heartbeat(sink));
            held.add(call.apply(listener)
                    .subscribe(answer -> sink.next(event(() -> answer)), sink::error, sink::complete));
        });
        return events.publishOn(thread);
    }

    private Disposable heartbeat(FluxSink<Publisher<ByteBuf>> sink) {
        long pause = keepAlive.toMillis();
        return Schedulers.parallel().schedulePeriodically(new Heartbeat(sink), pause, pause, TimeUnit.MILLISECONDS);
    }

    /** Written as JSON only when the server is ready to send it, and on the server's thread. */
    private Publisher<ByteBuf> event(Supplier<Object> message) {
        return Mono.fromSupplier(() -> Unpooled.wrappedBuffer(DATA, codec.write(message.get()), END));
    }

    /** Turns output into {@code notifications/progress}. */
    private final class ProgressWriter implements OutputListener {
        private final FluxSink<Publisher<ByteBuf>> sink;
        private final JsonNode token;

        private ProgressWriter(FluxSink<Publisher<ByteBuf>> sink, JsonNode token) {
            this.sink = sink;
            this.token = token;
        }

        @Override
        public CompletionStage<?> output(long bytesSoFar, String text) {
            var written = new CompletableFuture<Void>();
            var progress = new Results.Progress(token, bytesSoFar, text);
            sink.next(event(() -> JsonRpc.OutgoingNotification.of("notifications/progress", progress)));
            // Subscribed to only after the event before it was flushed.
            sink.next(Mono.fromRunnable(() -> written.complete(null)));
            return written;
        }
    }

    /** A comment now and then, so that nobody on the way takes a quiet stream for a dead one; never two in the queue. */
    private static final class Heartbeat implements Runnable {
        private final FluxSink<Publisher<ByteBuf>> sink;
        private final AtomicBoolean queued = new AtomicBoolean();

        private Heartbeat(FluxSink<Publisher<ByteBuf>> sink) {
            this.sink = sink;
        }

        @Override
        public void run() {
            if (queued.compareAndSet(false, true)) {
                sink.next(Mono.fromSupplier(() -> {
                    queued.set(false);
                    return Unpooled.wrappedBuffer(KEEP_ALIVE);
                }));
            }
        }
    }
}
