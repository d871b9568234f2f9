package dev.sandglass.gateway.toolcall;

import static dev.sandglass.gateway.testing.FakeSharedServers.server;
import static dev.sandglass.gateway.toolcall.ToolCallScene.BOX;
import static dev.sandglass.gateway.toolcall.ToolCallScene.blob;
import static dev.sandglass.gateway.toolcall.ToolCallScene.problem;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** How a call brings a server up, and what code is told when that fails. */
class ServerStartsTest {

    private static final SandboxRef CHILD =
            new SandboxRef("sandglass-default", "sandglass-default", "web-mcp", "web-mcp");

    private final ToolCallScene scene = new ToolCallScene();

    @BeforeEach
    void start() {
        scene.servers.put(server("web"));
    }

    @AfterEach
    void stop() {
        scene.close();
    }

    private String state() throws Exception {
        return scene.ask(BOX, "tool_servers", "{}", "")
                .get()
                .answer()
                .json()
                .path("servers")
                .path(0)
                .toString();
    }

    @Test
    void aServerThatSleepsIsWokenOnceForAllThatCall() throws Exception {
        scene.children.put(new SandboxState.Asleep(CHILD, "uid-web-mcp", "Idle"));
        assertThat(state()).isEqualTo("{\"name\":\"web\",\"state\":\"idle\"}");
        var answers = new ArrayList<CompletableFuture<PodAnswer>>();
        for (int i = 0; i < 8; i++) {
            answers.add(scene.search("{}"));
        }
        for (var answer : answers) {
            assertThat(blob(answer)).isEqualTo("{}");
        }
        assertThat(scene.children.orders).containsExactly("resume web-mcp");
        assertThat(scene.verbs(Verb.RegisterServer.class)).hasSize(1);
        assertThat(state()).isEqualTo("{\"name\":\"web\",\"state\":\"running\"}");
    }

    @Test
    void aServerWhosePodIsNotThereYetIsWaitedFor() throws Exception {
        assertThat(state()).isEqualTo("{\"name\":\"web\",\"state\":\"starting\"}");
        var answer = scene.search("{}");
        assertThat(answer).isNotDone();
        scene.children.put(new SandboxState.Pending(CHILD, "uid-web-mcp", "Starting", "the pod is being made"));

        assertThat(blob(answer)).isEqualTo("{}");
        assertThat(scene.children.orders).containsExactly("resume web-mcp");
    }

    @Test
    void aPodThatDoesNotComeIsNotWaitedForForEver() throws Exception {
        var answer = scene.ask(BOX, "tool_call", "{'server':'web','tool':'a'}", "{}");
        scene.clock.advanceTimeBy(ServerStarts.POD);

        LinkException why = problem(answer);
        assertThat(why.code()).isEqualTo("not_running");
        assertThat(why.text()).isEqualTo("MCP server 'web' is not running: it has no pod yet");
    }

    @Test
    void aServerThatWasStoppedStaysSo() throws Exception {
        scene.children.put(new SandboxState.Stopped(CHILD, "uid-web-mcp"));
        LinkException why = problem(scene.search("{}"));

        assertThat(why.code()).isEqualTo("not_running");
        assertThat(why.text()).contains("it was stopped");
        assertThat(scene.children.orders).isEmpty();
        assertThat(state()).isEqualTo("{\"name\":\"web\",\"state\":\"failed\"}");
    }

    @Test
    void whyAPodCannotStartIsToldInCleanWords() throws Exception {
        scene.children.put(new SandboxState.Asleep(CHILD, "uid-web-mcp", "Idle"));
        scene.children.startsAnswer(Mono.error(
                new SandboxProblem.StartFailed(CHILD, "ImageForbidden", "the image \u001b[2J is not\nallowed")));
        LinkException why = problem(scene.search("{}"));

        assertThat(why.code()).isEqualTo("not_running");
        assertThat(why.text()).contains("ImageForbidden", "the image [2J is not allowed");
    }

    /** As the operator tells of it: code hears so at once, and an agent before it calls. */
    @Test
    void aPodThatWaitsForAMissingSecretIsToldAsFailed() throws Exception {
        String why = "The node cannot mount a volume (FailedMount): secret \"sandglass-mcp-web\" not found";
        scene.children.put(new SandboxState.Pending(CHILD, "uid-web-mcp", "VolumeMissing", why));
        scene.children.startsAnswer(Mono.error(new SandboxProblem.StartFailed(CHILD, "VolumeMissing", why)));

        assertThat(state()).contains("\"failed\"", "VolumeMissing", "sandglass-mcp-web");
        LinkException told = problem(scene.search("{}"));
        assertThat(told.code()).isEqualTo("not_running");
        assertThat(told.text()).contains("MCP server 'web' is not running", "VolumeMissing", "sandglass-mcp-web");

        scene.run("web");
        scene.clock.advanceTimeBy(ServerStarts.REST);
        assertThat(blob(scene.search("{}"))).isEqualTo("{}");
        assertThat(state()).contains("\"running\"");
    }

    @Test
    void aHostThatIsRefusedDuringAStartIsNamedToAllThatWait() throws Exception {
        scene.run("web");
        scene.supervisor.servers.silent = true;
        var first = scene.search("{}");
        var second = scene.search("{}");
        await().untilAsserted(
                        () -> assertThat(scene.supervisor.servers.unanswered).hasSize(1));
        scene.denied.note("uid-web-mcp", "registry.example.com:443", "not-allowed");
        scene.supervisor.servers.unanswered.forEach(start -> start.completeExceptionally(
                Refusals.of("mcp_start_failed", "MCP server 'web': 'npx' did not start: it ended")));

        for (var answer : List.of(first, second, scene.search("{}"))) {
            LinkException why = problem(answer);
            assertThat(why.code()).isEqualTo("not_running");
            assertThat(why.text())
                    .contains("\"registry.example.com:443\"", "spec.allowedDomains", "'npx' did not start");
        }
    }

    @Test
    void aHostThatIsRefusedWhenAServerComesBackIsNamed() throws Exception {
        scene.run("web");
        assertThat(blob(scene.search("{}"))).isEqualTo("{}");
        scene.supervisor.servers.slow = true;
        var answer = scene.search("{}");
        await().untilAsserted(() -> assertThat(scene.supervisor.servers.waiting).hasSize(1));
        scene.denied.note("uid-web-mcp", "registry.example.com:443", "not-allowed");
        scene.supervisor
                .servers
                .waiting
                .getFirst()
                .answer()
                .completeExceptionally(Refusals.of("not_running", "server 'web' is not running: it ended"));

        assertThat(problem(answer).text()).contains("\"registry.example.com:443\"", "it ended");
    }

    @Test
    void anEntryThatIsMissingInThePodIsToldInTheSupervisorsWords() throws Exception {
        scene.run("web");
        scene.supervisor.servers.failure = Refusals.of(
                "mcp_start_failed", "MCP server 'web': 'npx' did not start: variable 'TOKEN': key 'token' of Secret");
        LinkException why = problem(scene.search("{}"));

        assertThat(why.code()).isEqualTo("not_running");
        assertThat(why.text()).contains("variable 'TOKEN': key 'token' of Secret");
    }

    @Test
    void whatTheOperatorDidNotAcceptIsNotStarted() throws Exception {
        scene.servers.put(new SharedServer(
                FakeSharedServers.identity("web", 1),
                FakeSharedServers.command("web"),
                ToolRules.ALL,
                SharedServer.Bounds.DEFAULT,
                Optional.of("NameTaken: another Sandbox has the name web-mcp")));
        scene.run("web");

        assertThat(problem(scene.search("{}")).text()).contains("NameTaken");
        assertThat(scene.supervisor.verbs).isEmpty();
        assertThat(state()).contains("\"failed\"", "NameTaken");
    }

    @Test
    void aFailedStartIsToldToAllAndTriedAgainAfterARest() throws Exception {
        scene.run("web");
        scene.supervisor.servers.failure = Refusals.of("mcp_start_failed", "MCP server 'web': it ended");
        for (int i = 0; i < 3; i++) {
            LinkException why = problem(scene.search("{}"));
            assertThat(why.code()).isEqualTo("not_running");
            assertThat(why.text()).isEqualTo("MCP server 'web': it ended");
        }
        assertThat(scene.verbs(Verb.RegisterServer.class)).hasSize(1);
        scene.supervisor.servers.failure = null;
        scene.clock.advanceTimeBy(ServerStarts.REST);

        assertThat(blob(scene.search("{}"))).isEqualTo("{}");
    }

    @Test
    void aServerThatAnotherReplicaRegistersIsAskedForAgain() throws Exception {
        scene.run("web");
        scene.supervisor.servers.failure = Refusals.of("mcp_registering", "it is being registered already");
        // Longer than the clock goes on below.
        var answer = scene.ask(BOX, "tool_call", "{'server':'web','tool':'search','timeout_s':86400}", "{}");
        await().until(() -> {
            scene.clock.advanceTimeBy(Duration.ofMillis(500));
            return scene.verbs(Verb.RegisterServer.class).size() >= 2;
        });
        assertThat(answer).isNotDone();
        scene.supervisor.servers.failure = null;
        await().until(() -> {
            scene.clock.advanceTimeBy(Duration.ofMillis(500));
            return answer.isDone();
        });

        assertThat(blob(answer)).isEqualTo("{}");
    }

    @Test
    void aStartGoesOnWithoutTheCallThatBeganIt() throws Exception {
        var answer = scene.search("{}");
        answer.cancel(false);
        scene.run("web");

        await().until(() -> scene.verbs(Verb.RegisterServer.class).size() == 1);
        assertThat(blob(scene.search("{}"))).isEqualTo("{}");
        assertThat(scene.verbs(Verb.RegisterServer.class)).hasSize(1);
    }

    @Test
    void aCallEndsWithThePodOfItsServer() throws Exception {
        scene.run("web");
        scene.supervisor.servers.slow = true;
        var answer = scene.ask(BOX, "tool_call", "{'server':'web','tool':'a'}", "{}");
        await().until(() -> scene.supervisor.servers.waiting.size() == 1);
        scene.children.end("web-mcp", "the node is lost (NodeLost)");

        LinkException why = problem(answer);
        assertThat(why.code()).isEqualTo("failed");
        assertThat(why.text()).contains("the node is lost (NodeLost); whether the call was carried out is not known");
    }

    /** An idle stop would end a call that takes longer than the idle time. */
    @Test
    void aPodCountsAsUsedAsLongAsACallTakesAndNoLonger() throws Exception {
        scene.run("web");
        scene.supervisor.servers.slow = true;
        var answer = scene.ask(BOX, "tool_call", "{'server':'web','tool':'a'}", "{}");
        await().until(() -> scene.supervisor.servers.waiting.size() == 1);
        int before = scene.children.busy.size();
        scene.clock.advanceTimeBy(Duration.ofMinutes(10));

        assertThat(scene.children.busy).hasSize(before + 20).last().isEqualTo(ServerUse.BUSY);
        answer.cancel(false);
        await().until(() -> scene.children.busy.getLast().isZero());
        int after = scene.children.busy.size();
        scene.clock.advanceTimeBy(Duration.ofMinutes(10));
        assertThat(scene.children.busy).hasSize(after);
    }
}
