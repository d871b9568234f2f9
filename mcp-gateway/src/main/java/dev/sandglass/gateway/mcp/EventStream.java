package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.execution.OutputListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
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
    private final DataBufferFactory buffers;
    private final Duration keepAlive;
    private final Scheduler thread;

    EventStream(JsonCodec codec, DataBufferFactory buffers, Duration keepAlive, Scheduler thread) {
        this.codec = codec;
        this.buffers = buffers;
        this.keepAlive = keepAlive;
        this.thread = thread;
    }

    /**
     * The events of a call. Subscribing starts it; cancelling, as the server does when the client is gone, gives it up.
     *
     * @param progressToken of the client, or null if it wants no progress
     * @param call makes the call's answer, given who listens to its output; an empty one ends the stream without answer
     */
    Flux<Publisher<DataBuffer>> of(@Nullable JsonNode progressToken, Function<OutputListener, Mono<?>> call) {
        Flux<Publisher<DataBuffer>> events = Flux.create(sink -> {
            OutputListener listener =
                    progressToken == null ? OutputListener.NONE : new ProgressWriter(sink, progressToken);
            Disposable heartbeat = Schedulers.parallel()
                    .schedulePeriodically(
                            new Heartbeat(sink), keepAlive.toMillis(), keepAlive.toMillis(), TimeUnit.MILLISECONDS);
            Disposable work = call.apply(listener)
                    .subscribe(answer -> sink.next(event(() -> answer)), sink::error, sink::complete);
            sink.onDispose(Disposables.composite(work, heartbeat));
        });
        return events.publishOn(thread);
    }

    /** Written as JSON only when the server is ready to send it, and on the server's thread. */
    private Publisher<DataBuffer> event(Supplier<Object> message) {
        return Mono.fromSupplier(() ->
                buffers.join(List.of(buffers.wrap(DATA), buffers.wrap(codec.write(message.get())), buffers.wrap(END))));
    }

    /** Turns output into {@code notifications/progress}. */
    private final class ProgressWriter implements OutputListener {
        private final FluxSink<Publisher<DataBuffer>> sink;
        private final JsonNode token;

        private ProgressWriter(FluxSink<Publisher<DataBuffer>> sink, JsonNode token) {
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
    private final class Heartbeat implements Runnable {
        private final FluxSink<Publisher<DataBuffer>> sink;
        private final AtomicBoolean queued = new AtomicBoolean();

        private Heartbeat(FluxSink<Publisher<DataBuffer>> sink) {
            this.sink = sink;
        }

        @Override
        public void run() {
            if (queued.compareAndSet(false, true)) {
                sink.next(Mono.fromSupplier(() -> {
                    queued.set(false);
                    return buffers.wrap(KEEP_ALIVE);
                }));
            }
        }
    }
}
