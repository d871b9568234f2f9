package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.execution.OutputListener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
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

    /** Clients' time-outs begin anew with each progress notification, and count 30 s or more; comments they do not see. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(15);

    private final JsonCodec codec;
    private final Duration keepAlive;
    private final Scheduler thread;
    private final Function<byte[], Publisher<ByteBuf>> pace;

    /**
     * @param pace in which the bytes of an event are written
     */
    EventStream(JsonCodec codec, Duration keepAlive, Scheduler thread, Function<byte[], Publisher<ByteBuf>> pace) {
        this.codec = codec;
        this.keepAlive = keepAlive;
        this.thread = thread;
        this.pace = pace;
    }

    /**
     * The events of a call. Subscribing starts it; cancelling, as the server does when the client is gone, gives it up.
     *
     * @param progressToken of the client, or null if it wants no progress
     * @param call makes the call's answer, given who listens to its output; an empty one ends the stream without answer
     */
    Flux<Publisher<ByteBuf>> of(@Nullable JsonNode progressToken, Function<OutputListener, Mono<?>> call) {
        Flux<Publisher<ByteBuf>> events = Flux.create(sink -> {
            Disposable.Composite held = Disposables.composite();
            // First of all: a call that throws ends the sink, and nothing but the sink.
            sink.onDispose(held);
            held.add(heartbeat(sink));
            OutputListener listener = OutputListener.NONE;
            if (progressToken != null) {
                var writer = new ProgressWriter(sink, progressToken);
                held.add(writer.next);
                writer.lookIn(LONGEST_SILENCE.toNanos());
                listener = writer;
            }
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
        return Flux.defer(() -> pace.apply(line(codec.write(message.get()))));
    }

    /** The clock of what is scheduled, so that a test that has its own makes both go. */
    private static long now() {
        return Schedulers.parallel().now(TimeUnit.NANOSECONDS);
    }

    private static byte[] line(byte[] json) {
        return ByteBuffer.allocate(DATA.length + json.length + END.length)
                .put(DATA)
                .put(json)
                .put(END)
                .array();
    }

    /**
     * Turns output into {@code notifications/progress}, and silence too: what there is to say then is how long the call has
     * taken. Progress rises with each, as MCP demands: by the bytes of output, or by one.
     */
    private final class ProgressWriter implements OutputListener {
        private final FluxSink<Publisher<ByteBuf>> sink;
        private final JsonNode token;
        private final long begun = now();
        private final Disposable.Swap next = Disposables.swap();
        private final AtomicBoolean queued = new AtomicBoolean();
        private volatile String doing = "at work";
        private long spoke = begun;
        private long last;

        private ProgressWriter(FluxSink<Publisher<ByteBuf>> sink, JsonNode token) {
            this.sink = sink;
            this.token = token;
        }

        @Override
        public CompletionStage<?> output(long bytesSoFar, String text) {
            var written = new CompletableFuture<Void>();
            tell(bytesSoFar, text, () -> {});
            // Subscribed to only after the event before it was flushed.
            sink.next(Mono.fromRunnable(() -> written.complete(null)));
            return written;
        }

        @Override
        public void doing(String what) {
            doing = what;
        }

        /** Numbered and queued under one lock: the clock runs on another thread than the output. */
        private synchronized void tell(long progress, String text, Runnable sent) {
            last = Math.max(last + 1, progress);
            spoke = now();
            var told = new Results.Progress(token, last, text);
            sink.next(event(() -> {
                sent.run();
                return JsonRpc.OutgoingNotification.of("notifications/progress", told);
            }));
        }

        private void lookIn(long nanos) {
            next.update(Schedulers.parallel().schedule(this::look, nanos, TimeUnit.NANOSECONDS));
        }

        private void look() {
            long left = LONGEST_SILENCE.toNanos() - (now() - lastSpoken());
            if (left > 0) {
                lookIn(left);
                return;
            }
            // One that waits for a client who does not read says enough.
            if (queued.compareAndSet(false, true)) {
                long seconds = Duration.ofNanos(now() - begun).toSeconds();
                tell(0, "Still %s after %d s.\n".formatted(doing, seconds), () -> queued.set(false));
            }
            lookIn(LONGEST_SILENCE.toNanos());
        }

        private synchronized long lastSpoken() {
            return spoke;
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
