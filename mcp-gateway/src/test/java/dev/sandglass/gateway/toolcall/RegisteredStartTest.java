package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.ServerTool;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServer.Bounds;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The start of a server that was registered a moment ago, before its first call. */
class RegisteredStartTest {

    private static final SharedServer WEB = FakeSharedServers.server("web");

    private final ToolCallScene scene = new ToolCallScene();

    @AfterEach
    void stop() {
        scene.close();
    }

    /** The names of what was listed, as if functions were made of these. */
    private CompletableFuture<RegisteredServer> started() {
        return scene.calls
                .start(
                        WEB,
                        listing -> Mono.just(new RegisteredServer(
                                "web",
                                new RegisteredServer.Info("", "", ""),
                                listing.tools().known().stream()
                                        .map(tool -> new ServerTool(tool.name(), tool.name(), tool.description()))
                                        .toList(),
                                0,
                                List.of(listing.json().length() + " bytes"))))
                .toFuture();
    }

    private static void refused(CompletableFuture<RegisteredServer> start, String words) {
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

        assertThat(started().get(10, TimeUnit.SECONDS).tools())
                .extracting(ServerTool::name)
                .containsExactly("search", "delete_all");
        assertThat(scene.verbs(Verb.RegisterServer.class)).hasSize(1);
        assertThat(scene.list.of(ToolCallScene.BOX)).singleElement().matches(server -> server.tools()
                .isPresent());
    }

    @Test
    void theListsBytesCountUntilFunctionsAreWritten() throws Exception {
        scene.servers.put(WEB);
        scene.run("web");
        var written = new CompletableFuture<RegisteredServer>();
        var begun = new CompletableFuture<Integer>();

        CompletableFuture<RegisteredServer> start = scene.calls
                .start(WEB, listing -> {
                    begun.complete(listing.json().length());
                    return Mono.fromFuture(written);
                })
                .toFuture();

        assertThat(begun.get(10, TimeUnit.SECONDS)).isPositive();
        assertThat(scene.calls.heldBytes()).isPositive();
        written.complete(new RegisteredServer("web", new RegisteredServer.Info("", "", ""), List.of(), 0, List.of()));
        start.get(10, TimeUnit.SECONDS);
        assertThat(scene.calls.heldBytes()).isZero();
    }

    @Test
    void aProgramThatEndsIsSaidWithItsLastWords() {
        scene.servers.put(WEB);
        scene.run("web");
        scene.supervisor.servers.startFailure = Refusals.of("mcp_start_failed", "it ended: no key");

        refused(started(), "Not registered: it ended: no key.");
    }

    @Test
    void aServerThatIsDeletedMeanwhileEndsTheWait() {
        CompletableFuture<RegisteredServer> start = started();
        scene.clock.advanceTimeBy(ToolCalls.LOOK.multipliedBy(3));
        scene.servers.put(WEB);
        scene.clock.advanceTimeBy(ToolCalls.LOOK.multipliedBy(3));
        assertThat(start).isNotDone();

        scene.servers.remove(WEB);
        scene.clock.advanceTimeBy(ToolCalls.LOOK.plus(Duration.ofMillis(1)));

        refused(
                start,
                "Not registered: MCP server 'web' is not running: it was removed or registered again meanwhile.");
    }

    /** Else a pod that will never be made would be waited for. */
    @Test
    void whatTheOperatorRefusesEndsTheWait() {
        scene.servers.put(WEB);
        CompletableFuture<RegisteredServer> start = started();
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
