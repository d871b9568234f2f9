package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.OutputListener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** What is left of a stream whose call is none. */
class EventStreamTest {

    private final McpError problem = McpError.invalidRequest("no call");

    private final EventStream stream = new EventStream(
            new JsonCodec(1024),
            Duration.ofHours(1),
            Schedulers.immediate(),
            bytes -> Mono.just(Unpooled.wrappedBuffer(bytes)));

    /** The task that keeps a quiet stream alive holds on to it, and would do so for ever. */
    @Tag("slow")
    @Test
    void aCallThatThrowsLeavesNothingBehind() {
        WeakReference<Object> client = clientOfACallThatThrows();
        await().until(() -> {
            System.gc();
            return client.get() == null;
        });
    }

    @AfterEach
    void ownClock() {
        VirtualTimeScheduler.reset();
    }

    /** Clients' time-outs count from the last notification, and do not see comments. */
    @Test
    void aCallThatIsSilentIsHeardOfEvery15SecondsAndProgressRises() {
        VirtualTimeScheduler clock = VirtualTimeScheduler.getOrSet();
        List<JsonNode> events = events(progress -> {
            progress.doing("waiting behind 2 other execution(s)");
            var _ = progress.output(3, "abc");
            return Mono.never();
        });

        clock.advanceTimeBy(Duration.ofMillis(14_999));
        assertThat(events).hasSize(1);
        clock.advanceTimeBy(Duration.ofMillis(30_001));

        assertThat(events)
                .extracting(event -> event.path("params").path("progress").asLong())
                .containsExactly(3L, 4L, 5L, 6L);
        assertThat(events)
                .extracting(event -> event.path("params").path("message").asString())
                .containsExactly(
                        "abc",
                        "Still waiting behind 2 other execution(s) after 15 s.\n",
                        "Still waiting behind 2 other execution(s) after 30 s.\n",
                        "Still waiting behind 2 other execution(s) after 45 s.\n");
        assertThat(events)
                .allMatch(event -> event.path("params").path("progressToken").asInt() == 7);
    }

    /** The clock and the output are two, and neither makes the number fall. */
    @Test
    void outputAfterSilenceGoesOnFromThere() {
        VirtualTimeScheduler clock = VirtualTimeScheduler.getOrSet();
        List<JsonNode> events = events(progress -> Flux.interval(Duration.ofSeconds(36))
                .take(20)
                .doOnNext(tick -> {
                    var _ = progress.output(tick + 1, "x");
                })
                .then(Mono.never()));

        clock.advanceTimeBy(Duration.ofMinutes(12));

        assertThat(events)
                .extracting(event -> event.path("params").path("progress").asLong())
                .hasSize(20 + 2 * 20)
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    void aCallWithoutATokenIsTalkedOfToNobody() {
        VirtualTimeScheduler clock = VirtualTimeScheduler.getOrSet();
        List<String> events = new CopyOnWriteArrayList<>();
        stream.of(null, progress -> Mono.never())
                .concatMap(Mono::from)
                .map(bytes -> bytes.toString(StandardCharsets.UTF_8))
                .subscribe(events::add);

        clock.advanceTimeBy(Duration.ofMinutes(5));

        assertThat(events).isEmpty();
    }

    private List<JsonNode> events(Function<OutputListener, Mono<?>> call) {
        List<JsonNode> events = new CopyOnWriteArrayList<>();
        stream.of(JsonNodeFactory.instance.numberNode(7), call)
                .concatMap(Mono::from)
                .map(bytes -> bytes.toString(StandardCharsets.UTF_8))
                .filter(event -> event.contains("data: "))
                .map(event -> JsonMapper.shared().readTree(event.substring(event.indexOf("data: ") + 6)))
                .subscribe(events::add);
        return events;
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
