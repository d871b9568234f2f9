package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.InboundFrames;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever a sandbox asks: it is answered, or refused with a word that code knows, and nothing of it is kept. */
class ToolCallsFuzzTest {

    private static List<List<byte[]>> corpus() {
        return Stream.of(
                        "{\"kind\":\"tool_call\",\"execution_id\":\"e-1\",\"arguments\":{\"server\":\"web\",\"tool\":\"search\",\"timeout_s\":1.5}}",
                        "{\"kind\":\"tool_list\",\"execution_id\":\"default.box.1.x\",\"arguments\":{\"server\":\"absent\"}}",
                        "{\"kind\":\"tool_servers\",\"execution_id\":\"e-1\",\"arguments\":{}}")
                .map(json -> Stream.of("T", "1f", json, "{\"words\":\"é\"}")
                        .map(frame -> frame.getBytes(StandardCharsets.UTF_8))
                        .toList())
                .toList();
    }

    @Test
    void anyCall() throws IOException {
        try (var scene = new ToolCallScene()) {
            // Nothing may be called, so that no answer is waited for.
            scene.servers.put(
                    FakeSharedServers.server("web", new ToolRules(List.of(), null, null), SharedServer.Bounds.DEFAULT));
            Fuzz.attack(FrameMutator::new, "toolcall", corpus(), message -> {
                if (InboundFrames.decode(message) instanceof Inbound.Call call
                        && scene.calls.kinds().contains(call.kind())
                        && !(call.kind().equals("tool_list")
                                && call.arguments().toString().contains("web"))) {
                    examine(scene, call);
                }
            });
        }
    }

    private static void examine(ToolCallScene scene, Inbound.Call call) {
        CompletableFuture<PodAnswer> answer = scene.calls.answer(
                new PodCall(ToolCallScene.BOX, 1, call.kind(), call.executionId(), call.arguments(), call.blob()));
        assertThat(answer).isDone();
        if (answer.isCompletedExceptionally()) {
            assertThat(answer.exceptionNow())
                    .isInstanceOfSatisfying(LinkException.class, why -> assertThat(CallProblem.of(why.code()))
                            .as(why.text())
                            .isPresent());
        } else {
            answer.resultNow().gone().run();
        }
        assertThat(scene.calls.heldBytes()).isZero();
        assertThat(scene.supervisor.verbs).isEmpty();
    }
}
