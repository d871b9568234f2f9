package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.call.DrainableCalls;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The end of a replica waits for the answers that it owes to pods. */
class PodCallsLifecycleTest {

    private static final ObjectNode NOTHING = JsonNodeFactory.instance.objectNode();

    private final CompletableFuture<PodAnswer> answer = new CompletableFuture<>();
    private final DrainableCalls calls = new DrainableCalls(new PodCalls() {
        @Override
        public Set<String> kinds() {
            return Set.of("tool");
        }

        @Override
        public CompletableFuture<PodAnswer> answer(PodCall call) {
            return answer;
        }
    });
    private final PodCallsLifecycle lifecycle = new PodCallsLifecycle(calls);
    private final AtomicInteger stopped = new AtomicInteger();

    @Test
    void itEndsWhenTheLastAnswerIsSent() throws Exception {
        lifecycle.start();
        var given = calls.answer(new PodCall("uid", 1, "tool", "e-1", NOTHING, Blob.EMPTY));
        lifecycle.stop(stopped::incrementAndGet);
        assertThat(calls.kinds()).isEmpty();
        answer.complete(new PodAnswer(new Answer(NOTHING, Blob.EMPTY)));
        assertThat(stopped).hasValue(0);
        assertThat(lifecycle.isRunning()).isTrue();
        given.get().gone().run();
        assertThat(stopped).hasValue(1);
        assertThat(lifecycle.isRunning()).isFalse();
    }

    @Test
    void withoutCallsItEndsAtOnceBesideTheWebServersGracefulShutdown() {
        lifecycle.start();
        lifecycle.stop(stopped::incrementAndGet);
        assertThat(stopped).hasValue(1);
        assertThat(lifecycle.getPhase()).isEqualTo(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE);
    }
}
