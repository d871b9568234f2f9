package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServer.Bounds;
import dev.sandglass.gateway.toolserver.SharedServerState.Tool;
import dev.sandglass.gateway.toolserver.SharedServerState.Tools;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The start of a server that was registered a moment ago, before its first call. */
class RegisteredStartTest {

    private static final SharedServer WEB = FakeSharedServers.server("web");

    private final ToolCallScene scene = new ToolCallScene();

    @AfterEach
    void stop() {
        scene.close();
    }

    private CompletableFuture<Tools> started() {
        return scene.calls.start(WEB).toFuture();
    }

    private static void refused(CompletableFuture<Tools> start, String words) {
        assertThatThrownBy(() -> start.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(ServerRefused.class, refused -> assertThat(refused.why())
                        .isEqualTo(ServerRefused.Cause.START_FAILED))
                .hasMessage(words);
    }

    @Test
    void itRunsAndItsToolsAreListed() throws Exception {
        scene.servers.put(WEB);
        scene.run("web");

        assertThat(started().get(10, TimeUnit.SECONDS).known())
                .extracting(Tool::name)
                .containsExactly("search", "delete_all");
        assertThat(scene.verbs(Verb.RegisterServer.class)).hasSize(1);
        assertThat(scene.list.of(ToolCallScene.BOX)).singleElement().matches(server -> server.tools()
                .isPresent());
    }

    @Test
    void aProgramThatEndsIsSaidWithItsLastWords() {
        scene.servers.put(WEB);
        scene.run("web");
        scene.supervisor.servers.startFailure = Refusals.of("mcp_start_failed", "it ended: no key");

        refused(started(), "Not registered: it ended: no key.");
    }

    /** Else a pod that will never be made would be waited for. */
    @Test
    void whatTheOperatorRefusesEndsTheWait() {
        scene.servers.put(WEB);
        CompletableFuture<Tools> start = started();
        scene.clock.advanceTimeBy(ToolCalls.LOOK.multipliedBy(3));
        assertThat(start).isNotDone();

        scene.servers.put(new SharedServer(
                WEB.identity(),
                WEB.registration(),
                ToolRules.ALL,
                Bounds.DEFAULT,
                Optional.of("SandboxRefused: spec.memory is too much")));
        scene.clock.advanceTimeBy(ToolCalls.LOOK.plus(Duration.ofMillis(1)));

        refused(start, "Not registered: MCP server 'web' is not running: SandboxRefused: spec.memory is too much.");
    }
}
