package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
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
    @Test
    void aCallThatThrowsLeavesNothingBehind() {
        WeakReference<Object> client = clientOfACallThatThrows();
        await().until(() -> {
            System.gc();
            return client.get() == null;
        });
    }

    /** Clients' time-outs count from the last notification, and do not see comments. */
    @Test
    void aCallThatIsSilentIsHeardOfAgainAndAgainAndProgressRises() {
        var quick = new EventStream(
                new JsonCodec(1024),
                Duration.ofHours(1),
                Duration.ofMillis(20),
                Schedulers.immediate(),
                bytes -> Mono.just(Unpooled.wrappedBuffer(bytes)));
        List<JsonNode> events = quick.of(JsonNodeFactory.instance.numberNode(7), progress -> {
                    progress.doing("waiting behind 2 other execution(s)");
                    var _ = progress.output(3, "abc");
                    return Mono.delay(Duration.ofSeconds(5)).thenReturn(Map.of());
                })
                .concatMap(Mono::from)
                .map(bytes -> bytes.toString(StandardCharsets.UTF_8))
                .filter(event -> event.contains("data: "))
                .map(event -> JsonMapper.shared().readTree(event.substring(event.indexOf("data: ") + 6)))
                .take(4)
                .collectList()
                .block(Duration.ofSeconds(10));

        assertThat(events)
                .extracting(event -> event.path("params").path("progress").asLong())
                .containsExactly(3L, 4L, 5L, 6L);
        assertThat(events)
                .extracting(event -> event.path("params").path("message").asString())
                .startsWith("abc", "Still waiting behind 2 other execution(s) after 0 s.\n");
        assertThat(events)
                .allMatch(event -> event.path("params").path("progressToken").asInt() == 7);
    }

    /** The clock and the output are two, and neither makes the number fall. */
    @Test
    void outputAfterSilenceGoesOnFromThere() {
        var quick = new EventStream(
                new JsonCodec(1024),
                Duration.ofHours(1),
                Duration.ofMillis(5),
                Schedulers.immediate(),
                bytes -> Mono.just(Unpooled.wrappedBuffer(bytes)));
        List<Long> numbers = quick.of(
                        JsonNodeFactory.instance.numberNode(7), progress -> Flux.interval(Duration.ofMillis(12))
                                .take(20)
                                .doOnNext(tick -> {
                                    var _ = progress.output(tick + 1, "x");
                                })
                                .then(Mono.just(Map.of())))
                .concatMap(Mono::from)
                .map(bytes -> bytes.toString(StandardCharsets.UTF_8))
                .filter(event -> event.contains("notifications/progress"))
                .map(event -> JsonMapper.shared()
                        .readTree(event.substring(event.indexOf("data: ") + 6))
                        .path("params")
                        .path("progress")
                        .asLong())
                .collectList()
                .block(Duration.ofSeconds(10));

        assertThat(numbers).hasSizeGreaterThan(20).isSorted().doesNotHaveDuplicates();
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
