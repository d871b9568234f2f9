package dev.sandglass.gateway.toolcall;

import static dev.sandglass.gateway.testing.FakeSharedServers.server;
import static dev.sandglass.gateway.toolcall.ToolCallScene.BOX;
import static dev.sandglass.gateway.toolcall.ToolCallScene.blob;
import static dev.sandglass.gateway.toolcall.ToolCallScene.problem;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.ReplyWire;
import dev.sandglass.gateway.link.call.UnansweredCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** How much code may ask of shared servers, each bound at its last value and behind it. */
class ToolCallBoundsTest {

    private static SharedServer bounded(int resultBytes, int concurrency, int callsPerExecution) {
        return server(
                "web",
                ToolRules.ALL,
                new SharedServer.Bounds(Optional.empty(), resultBytes, concurrency, callsPerExecution));
    }

    private static ToolCallScene scene(SharedServer server, ByteBudget bytes) {
        var scene = new ToolCallScene(bytes);
        scene.servers.put(server);
        scene.run("web");
        return scene;
    }

    private static ToolCallScene scene(SharedServer server) {
        return scene(server, new ByteBudget(ToolCalls.ALL_BYTES, ToolCalls.NAMESPACE_BYTES));
    }

    @Test
    void aResultHasAsManyBytesAsTheResourceAllows() throws Exception {
        try (ToolCallScene scene = scene(bounded(10, 16, 1000))) {
            assertThat(blob(scene.search("x".repeat(10)))).hasSize(10);
            var why = problem(scene.search("x".repeat(11)));
            assertThat(why.code()).isEqualTo("too_large");
            assertThat(why.text()).contains("11 bytes", "at most 10");
        }
    }

    @Test
    void anExecutionMakesSoManyCallsAndAnotherOneItsOwn() throws Exception {
        try (ToolCallScene scene = scene(bounded(1000, 16, 3))) {
            for (int i = 0; i < 3; i++) {
                blob(scene.search("{}"));
            }
            assertThat(problem(scene.search("{}")).text()).contains("at most 3 calls");
            String search = "{'server':'web','tool':'search'}";
            assertThat(blob(scene.ask(BOX, "e-2", "tool_call", search, "{}"))).isEqualTo("{}");
            scene.servers.add("uid-two", "sandglass-default", Map.of());
            assertThat(blob(scene.ask("uid-two", "tool_call", search, "{}"))).isEqualTo("{}");
        }
    }

    @Test
    void aServerHasSoManyCallsAtATimeAndTheOthersWait() throws Exception {
        try (ToolCallScene scene = scene(bounded(1000, 2, 1000))) {
            scene.supervisor.servers.slow = true;
            var answers = new ArrayList<CompletableFuture<PodAnswer>>();
            for (int i = 0; i < 5; i++) {
                answers.add(scene.search("{\"i\":" + i + "}"));
            }
            var waiting = scene.supervisor.servers.waiting;
            for (int i = 0; i < 5; i++) {
                int let = Math.min(i + 2, 5);
                await().until(() -> waiting.size() == let);
                assertThat(scene.verbs(Verb.CallServerTool.class)).hasSize(let);
                var call = waiting.get(i);
                call.answer()
                        .complete(new Answer(
                                JsonMapper.shared().createObjectNode(),
                                call.verb().arguments()));
            }
            for (int i = 0; i < 5; i++) {
                assertThat(blob(answers.get(i))).isEqualTo("{\"i\":" + i + "}");
            }
        }
    }

    @Test
    void theServersPodHearsTheBoundsThatItKeepsForAllReplicas() throws Exception {
        var bounds = new SharedServer.Bounds(Optional.of(Duration.ofSeconds(5)), 1000, 7, 1000);
        try (ToolCallScene scene = scene(server("web", ToolRules.ALL, bounds))) {
            blob(scene.search("{}"));
            blob(scene.ask(BOX, "tool_call", "{'server':'web','tool':'search','timeout_s':2}", "{}"));
            assertThat(scene.verbs(Verb.CallServerTool.class))
                    .allMatch(call -> call.atOnce() == 7)
                    .extracting(Verb.CallServerTool::timeout)
                    .containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(2));
        }
    }

    private static Answer answer(String blob) {
        return new Answer(JsonMapper.shared().createObjectNode(), Blob.utf8(blob));
    }

    @Test
    void whatTooManyWaitForIsRefused() throws Exception {
        try (ToolCallScene scene = scene(bounded(1000, 1, 1000))) {
            scene.supervisor.servers.slow = true;
            var answers = new ArrayList<CompletableFuture<PodAnswer>>();
            for (int i = 0; i <= CallQueue.MOST_OF_SANDBOX; i++) {
                answers.add(scene.search("{}"));
            }
            assertThat(answers).noneMatch(CompletableFuture::isDone);
            assertThat(problem(scene.search("{}")).code()).isEqualTo("too_many");
            scene.servers.add("uid-two", "sandglass-default", Map.of());
            var others = scene.ask("uid-two", "tool_call", "{'server':'web','tool':'a'}", "{}");
            assertThat(others).isNotDone();
            // The call whose turn it is has reached the server, and is not cancelled before it is sent.
            await().until(() -> scene.supervisor.servers.waiting.size() == 1);
            answers.reversed().forEach(answer -> answer.cancel(false));
            await().until(() -> scene.verbs(Verb.CallServerTool.class).size() == 2);
            others.cancel(false);
        }
    }

    @Test
    void bytesAreHeldUntilTheAnswerIsGoneAndNoLonger() throws Exception {
        try (ToolCallScene scene = scene(bounded(1000, 16, 1000), new ByteBudget(30, 20))) {
            PodAnswer first = scene.search("x".repeat(20)).get(10, TimeUnit.SECONDS);
            assertThat(scene.calls.heldBytes()).isEqualTo(20);
            var why = problem(scene.search("x"));
            assertThat(why.code()).isEqualTo("too_many");
            assertThat(why.text()).contains("bytes");
            first.gone().run();
            assertThat(scene.calls.heldBytes()).isZero();
            scene.search("x".repeat(20)).get(10, TimeUnit.SECONDS).gone().run();
            assertThat(problem(scene.search("x".repeat(21))).code()).isEqualTo("too_many");
            assertThat(scene.calls.heldBytes()).isZero();
        }
    }

    @Test
    void aResultThatFindsNoRoomIsDropped() throws Exception {
        try (ToolCallScene scene = scene(bounded(1000, 16, 1000), new ByteBudget(30, 20))) {
            scene.supervisor.servers.slow = true;
            var answer = scene.search("{}");
            await().until(() -> scene.supervisor.servers.waiting.size() == 1);
            scene.supervisor.servers.waiting.getFirst().answer().complete(answer("x".repeat(21)));
            assertThat(problem(answer).code()).isEqualTo("too_many");
            assertThat(scene.calls.heldBytes()).isZero();
        }
    }

    /** What the links do when the process ends, or the connection to the sandbox breaks. */
    @Test
    void callsEndWithTheConnectionOnWhichTheyCame() throws Exception {
        try (ToolCallScene scene = scene(bounded(1000, 16, 1000))) {
            scene.supervisor.servers.slow = true;
            var sent = new ArrayList<byte[][]>();
            var unanswered = new UnansweredCalls(scene.calls, BOX, 1, Runnable::run);
            var wire = new ReplyWire() {
                @Override
                public void send(byte[][] frames) {
                    sent.add(frames);
                }

                @Override
                public boolean isReady() {
                    return true;
                }
            };
            var arguments = (ObjectNode) JsonMapper.shared().readTree("{\"server\":\"web\",\"tool\":\"a\"}");
            unanswered.came(new Inbound.Call("1", "tool_call", "e-1", arguments, Blob.utf8("{}")), wire);
            await().until(() -> scene.supervisor.servers.waiting.size() == 1);
            unanswered.lost();

            await().until(() -> scene.supervisor.servers.waiting.isEmpty());
            assertThat(sent).isEmpty();
            assertThat(scene.audit()).singleElement().asString().contains("outcome=cancelled");
            assertThat(scene.calls.heldBytes()).isZero();
        }
    }
}
