package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.scheduler.Schedulers;

/** What is left of a stream whose call is none. */
class EventStreamTest {

    private final McpError problem = McpError.invalidRequest("no call");

    private final EventStream stream =
            new EventStream(new JsonCodec(1024), Duration.ofHours(1), Schedulers.immediate());

    /** The task that keeps a quiet stream alive holds on to it, and would do so for ever. */
    @Test
    void aCallThatThrowsLeavesNothingBehind() {
        WeakReference<Object> client = clientOfACallThatThrows();
        await().until(() -> {
            System.gc();
            return client.get() == null;
        });
    }

    private WeakReference<Object> clientOfACallThatThrows() {
        AtomicReference<Throwable> told = new AtomicReference<>();
        var client = new BaseSubscriber<Publisher<ByteBuf>>() {
            @Override
            protected void hookOnError(Throwable failure) {
                told.set(failure);
            }
        };
        stream.of(null, progress -> {
                    throw problem;
                })
                .subscribe(client);
        assertThat(told).hasValue(problem);
        return new WeakReference<>(client);
    }
}
