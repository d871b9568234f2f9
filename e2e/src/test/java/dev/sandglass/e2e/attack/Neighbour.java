package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Installation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Somebody who works in a sandbox of its own all the while, one call after the other, and wants to notice nothing. */
final class Neighbour implements AutoCloseable {

    private final Agent agent = Installation.current().agent();
    private final String sandbox;
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final Thread worker;
    private volatile boolean ended;

    private Neighbour(String sandbox) {
        this.sandbox = sandbox;
        this.worker = Thread.ofVirtual().start(this::work);
    }

    /** Begins to work; returns after its first call. */
    static Neighbour in(String sandbox) {
        var neighbour = new Neighbour(sandbox);
        neighbour.awaitCalls(1);
        return neighbour;
    }

    /** Returns once so many more calls were made; fails if any call ever failed. */
    void awaitCalls(int more) {
        int enough = calls.get() + more;
        await("calls of the neighbour").atMost(Duration.ofSeconds(60)).until(() -> calls.get() >= enough);
        assertThat(failures).isEmpty();
    }

    private void work() {
        while (!ended) {
            failure().ifPresent(failures::add);
            calls.incrementAndGet();
        }
    }

    private Optional<String> failure() {
        try {
            Answer answer = agent.python(sandbox, "1 + 1");
            @Nullable String result = answer.result();
            return "2".equals(result) ? Optional.empty() : Optional.of(answer.text());
        } catch (RuntimeException problem) {
            return ended ? Optional.empty() : Optional.of(problem.toString());
        }
    }

    @Override
    public void close() {
        ended = true;
        await("the neighbour's last call").atMost(Duration.ofSeconds(60)).until(() -> !worker.isAlive());
        agent.close();
    }
}
