package dev.sandglass.gateway.toolcall;

import static dev.sandglass.gateway.testing.FakeSharedServers.server;
import static dev.sandglass.gateway.toolcall.ToolCallScene.BOX;
import static dev.sandglass.gateway.toolcall.ToolCallScene.blob;
import static dev.sandglass.gateway.toolcall.ToolCallScene.problem;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ServerInfo;
import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a replica notes of the servers that it starts, lists and cannot start. */
class HandshakesTest {

    private static final ServerInfo INFO = new ServerInfo("Web", "1.2", "2025-11-25");
    private static final String LIST = "{'server':'web'}";

    private final ToolCallScene scene = new ToolCallScene();

    @BeforeEach
    void start() {
        scene.servers.put(server("web"));
        scene.run("web");
    }

    @AfterEach
    void stop() {
        scene.close();
    }

    private ServerHandshake noted() {
        return scene.notes.writes.getLast();
    }

    private void listTools() throws Exception {
        blob(scene.ask(BOX, "tool_list", LIST, ""));
    }

    private double counted(String outcome) {
        return scene.meters
                .get("sandglass.tool.server.notes")
                .tag("outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void aListByCodeIsNotedWithWhatTheServerSaysOfItself() throws Exception {
        listTools();

        assertThat(scene.notes.writes).hasSize(1);
        assertThat(noted().uid()).isEqualTo("server-web");
        assertThat(noted().generation()).isEqualTo(1);
        assertThat(noted().done()).isTrue();
        assertThat(noted().serverInfo()).isEqualTo(INFO);
        assertThat(noted().toolCount()).isEqualTo(2);
        assertThat(noted().toolsHash()).startsWith("sha256:").hasSize(71);
        scene.clock.advanceTimeBy(Handshakes.QUIET.multipliedBy(2));
        assertThat(scene.verbs(Verb.ListServerTools.class))
                .as("it is not asked again")
                .hasSize(1);
        assertThat(counted("written")).isEqualTo(1);
    }

    @Test
    void aServerWhoseToolsNoCodeAsksForIsAskedBehindTheCall() throws Exception {
        blob(scene.search("{}"));
        assertThat(scene.notes.writes).isEmpty();

        scene.clock.advanceTimeBy(Handshakes.QUIET);

        await().untilAsserted(() -> assertThat(scene.notes.writes).hasSize(1));
        assertThat(noted().serverInfo()).isEqualTo(INFO);
        assertThat(noted().toolCount()).isEqualTo(2);
    }

    @Test
    void aServerThatGivesNoListIsNotedWithoutIt() throws Exception {
        scene.supervisor.servers.tools = "no list";
        blob(scene.search("{}"));
        scene.clock.advanceTimeBy(Handshakes.QUIET);

        await().untilAsserted(() -> assertThat(scene.notes.writes).hasSize(1));
        assertThat(noted()).isEqualTo(new ServerHandshake("server-web", 1, true, INFO, null, null));
    }

    @Test
    void toolsThatCodeMayNotCallCountToo() throws Exception {
        scene.servers.put(server("web", new ToolRules(List.of(), null, null), SharedServer.Bounds.DEFAULT));
        listTools();

        assertThat(noted().toolCount()).isEqualTo(2);
    }

    @Test
    void whatIsNotedAlreadyIsNotWrittenAgain() throws Exception {
        listTools();
        for (int i = 0; i < 5; i++) {
            scene.clock.advanceTimeBy(HandshakeWriter.PACE);
            listTools();
        }

        assertThat(scene.notes.writes).hasSize(1);
    }

    @Test
    void aServerThatChangesAllTheTimeIsNotedOnceAMinuteAndItsLastStateIn() throws Exception {
        for (int i = 0; i < 20; i++) {
            scene.supervisor.servers.tools = "{\"tools\":[{\"name\":\"tool_%d\"}],\"left_out\":%d}".formatted(i, i);
            listTools();
            scene.clock.advanceTimeBy(Duration.ofSeconds(10));
        }
        scene.clock.advanceTimeBy(HandshakeWriter.PACE.multipliedBy(2));

        // 200 s: at 0, 60, 120 and 180 s, and the last one a minute later.
        assertThat(scene.notes.writes).hasSize(5).doesNotHaveDuplicates();
        assertThat(noted().toolCount()).isEqualTo(20);
    }

    @Test
    void aServerThatDoesNotStartIsNotedAndWhenItDoesThatToo() throws Exception {
        scene.supervisor.servers.startFailure = Refusals.of("mcp_start_failed", "it ended: no key");
        problem(scene.search("{}"));
        assertThat(noted()).isEqualTo(ServerHandshake.failed("server-web", 1));

        scene.supervisor.servers.startFailure = null;
        scene.clock.advanceTimeBy(ServerStarts.REST);
        listTools();
        assertThat(scene.notes.writes).hasSize(1);
        scene.clock.advanceTimeBy(HandshakeWriter.PACE);
        assertThat(noted().done()).isTrue();
    }

    /** It says nothing of the server. */
    @Test
    void aPodThatCannotBeAskedIsNotNoted() throws Exception {
        scene.supervisor.servers.startFailure = Refusals.of("mcp_unavailable", "the image has no MCP client");
        problem(scene.search("{}"));

        assertThat(scene.notes.writes).isEmpty();
    }

    @Test
    void aWriteThatFailsFailsNoCallAndIsTriedAgain() throws Exception {
        scene.notes.failure = new IllegalStateException("the API server is away");
        listTools();
        scene.clock.advanceTimeBy(HandshakeWriter.PACE);
        assertThat(scene.notes.writes).hasSize(2);
        scene.notes.failure = null;
        scene.clock.advanceTimeBy(HandshakeWriter.PACE);

        assertThat(scene.notes.noted).containsEntry("web", noted());
        assertThat(counted("failed")).isEqualTo(2);
        assertThat(counted("written")).isEqualTo(1);
    }

    @Test
    void aWriteThatAlwaysFailsIsGivenUp() throws Exception {
        scene.notes.failure = new IllegalStateException("forbidden");
        listTools();
        scene.clock.advanceTimeBy(HandshakeWriter.PACE.multipliedBy(20));

        assertThat(counted("failed")).isEqualTo(HandshakeWriter.ATTEMPTS);
        listTools();
        assertThat(counted("failed")).as("the next list tries again").isEqualTo(HandshakeWriter.ATTEMPTS + 1);
    }

    @Test
    void aReplicaThatKnowsAnOlderSpecDoesNotOverwriteWhatAnotherOneNoted() throws Exception {
        var newer = new ServerHandshake("server-web", 2, true, INFO, 7, null);
        scene.notes.noted.put("web", newer);
        listTools();
        assertThat(scene.notes.writes).isEmpty();

        scene.servers.put(new SharedServer(
                FakeSharedServers.identity("web", 3),
                FakeSharedServers.command("web"),
                ToolRules.ALL,
                SharedServer.Bounds.DEFAULT,
                Optional.empty()));
        listTools();
        assertThat(noted().generation()).isEqualTo(3);
    }

    @Test
    void whatAServerSaysOfItselfIsCleanedAndBounded() throws Exception {
        scene.supervisor.servers.registered =
                "{\"server_info\":{\"name\":\"a\\u001b[2J\\u202eb%s\",\"version\":{}}}".formatted("x".repeat(5000));
        listTools();

        ServerInfo info = requireNonNull(noted().serverInfo());
        assertThat(info.name()).startsWith("a [2Jbxx").hasSize(ServerInfo.MAX_TEXT);
        assertThat(info.version()).isEqualTo("");
    }

    @Test
    void serversThatWaitOrRestAreBounded() {
        var writer = new HandshakeWriter(scene.notes, scene.clock, scene.meters);
        for (int i = 0; i < HandshakeWriter.MOST + 3; i++) {
            writer.note(FakeSharedServers.identity("s" + i, 1), ServerHandshake.failed("server-s" + i, 1));
        }

        assertThat(writer.turns()).isEqualTo(HandshakeWriter.MOST);
        assertThat(scene.notes.writes).hasSize(HandshakeWriter.MOST);
        assertThat(counted("failed")).isEqualTo(3);
        scene.clock.advanceTimeBy(HandshakeWriter.PACE);
        assertThat(writer.turns()).isZero();
    }
}
