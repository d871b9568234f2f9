package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.link.frame.LinkException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** Turns of calls: so many at a time, and the sandboxes one after the other. */
class CallQueueTest {

    private final CallQueue queue = new CallQueue();
    private final List<String> begun = new ArrayList<>();

    private Disposable begin(String sandbox, int atOnce, Mono<String> call) {
        return queue.inTurn("server", atOnce, sandbox, Mono.defer(() -> {
                    begun.add(sandbox);
                    return call;
                }))
                .subscribe(_ -> {}, _ -> {});
    }

    @Test
    void sandboxesHaveTheirTurnsOneAfterTheOther() {
        var first = Sinks.<String>one();
        begin("a", 1, first.asMono());
        for (int i = 0; i < 3; i++) {
            begin("a", 1, Mono.just("x"));
        }
        begin("b", 1, Mono.just("x"));
        begin("c", 1, Mono.just("x"));
        assertThat(queue.waiting("server")).isEqualTo(5);
        first.tryEmitValue("done");

        assertThat(begun).containsExactly("a", "a", "b", "c", "a", "a");
        assertThat(queue.servers()).isZero();
    }

    @Test
    void aFullQueueRefusesAndAnotherSandboxHasItsPlace() {
        var blocked = Sinks.<String>one();
        begin("a", 1, blocked.asMono());
        for (int i = 0; i < CallQueue.MOST_OF_SANDBOX; i++) {
            begin("a", 1, Mono.just("x"));
        }
        var refused = new ArrayList<Throwable>();
        queue.inTurn("server", 1, "a", Mono.just("x")).subscribe(_ -> {}, refused::add);
        assertThat(refused).singleElement().isInstanceOfSatisfying(LinkException.class, why -> assertThat(why.code())
                .isEqualTo("too_many"));
        for (int other = 1; other < CallQueue.MOST / CallQueue.MOST_OF_SANDBOX; other++) {
            for (int i = 0; i < CallQueue.MOST_OF_SANDBOX; i++) {
                begin("other-" + other, 1, Mono.just("x"));
            }
        }
        assertThat(queue.waiting("server")).isEqualTo(CallQueue.MOST);
        queue.inTurn("server", 1, "late", Mono.just("x")).subscribe(_ -> {}, refused::add);
        assertThat(refused).hasSize(2);

        blocked.tryEmitValue("done");
        assertThat(begun).hasSize(CallQueue.MOST + 1);
        assertThat(queue.servers()).isZero();
    }

    @Test
    void whatIsGivenUpLeavesItsPlace() {
        var first = Sinks.<String>one();
        Disposable running = begin("a", 1, first.asMono());
        Disposable waiting = begin("b", 1, Mono.just("x"));
        begin("c", 1, Mono.just("x"));
        waiting.dispose();
        assertThat(queue.waiting("server")).isEqualTo(1);
        running.dispose();

        assertThat(begun).containsExactly("a", "c");
        assertThat(queue.servers()).isZero();
    }

    @Test
    void aCallThatFailsGivesItsTurnOn() {
        var first = Sinks.<String>one();
        begin("a", 1, first.asMono());
        begin("b", 1, Mono.error(new IllegalStateException("no")));
        begin("c", 1, Mono.just("x"));
        first.tryEmitError(new IllegalStateException("no"));

        assertThat(begun).containsExactly("a", "b", "c");
        assertThat(queue.servers()).isZero();
    }

    @Test
    void manyThreadsNeverHaveMoreAtOnceThanMayBeAndLoseNone() {
        var running = new AtomicInteger();
        var most = new AtomicInteger();
        var threads = Schedulers.fromExecutorService(Executors.newFixedThreadPool(4));
        Long done = Flux.range(0, 2000)
                .flatMap(
                        i -> queue.inTurn(
                                        "server",
                                        3,
                                        "box-" + i % 7,
                                        Mono.fromCallable(() -> {
                                                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                                                    Thread.onSpinWait();
                                                    running.decrementAndGet();
                                                    return i;
                                                })
                                                .subscribeOn(threads))
                                .subscribeOn(threads),
                        64)
                .count()
                .block();
        // A place is left after its call has told of its end.
        await().until(() -> queue.servers() == 0);
        threads.dispose();

        assertThat(done).isEqualTo(2000);
        assertThat(most.get()).isBetween(1, 3);
    }
}
