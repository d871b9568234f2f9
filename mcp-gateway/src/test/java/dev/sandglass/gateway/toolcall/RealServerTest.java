package dev.sandglass.gateway.toolcall;

import static dev.sandglass.gateway.toolcall.ToolCallScene.BOX;
import static dev.sandglass.gateway.toolcall.ToolCallScene.blob;
import static dev.sandglass.gateway.toolcall.ToolCallScene.problem;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ServerInfo;
import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.LinkTarget;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.FakeHandshakeNotes;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.testing.TestLinks;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SecretEntry;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Calls from the gateway on, to an MCP server that a real supervisor started. */
class RealServerTest {

    /** A server's program and its handshake take their time. */
    private static final Duration SOON = Duration.ofSeconds(60);

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Path SERVER = Path.of("..", "kernel-image", "tests", "mcp", "server.py")
            .toAbsolutePath()
            .normalize();

    private static SupervisorProcess supervisor;
    private static FakeSharedServers servers;
    private static FakeHandshakeNotes handshakes;
    private static Path notes;
    private static Path begun;
    private static Path secrets;
    private static Replica one;

    /** What one replica of the gateway has. */
    private record Replica(LinkClient links, ToolCalls calls) {

        static Replica start(RunningSandbox pod) {
            LinkClient links = TestLinks.start(SupervisorProcess.SECRET);
            var children = new FakeSandboxes();
            for (String name : List.of("web", "absent", "keyed", "keyless")) {
                children.put(new SandboxState.Running(new RunningSandbox(
                        ServerStarts.child(server(name, List.of())),
                        pod.uid(),
                        pod.incarnation(),
                        pod.address(),
                        pod.port())));
            }
            var calls = new ToolCalls(
                    servers,
                    new SharedServerList(servers, children::find),
                    children,
                    child ->
                            links.link(new LinkTarget(child.uid(), child.incarnation(), child.address(), child.port())),
                    new SimpleMeterRegistry(),
                    new ToolCalls.Reports(handshakes, new DeniedHosts()));
            return new Replica(links, calls);
        }

        CompletableFuture<PodAnswer> ask(String kind, String arguments, String blob) {
            var json = (ObjectNode) JSON.readTree(arguments.replace('\'', '"'));
            return calls.answer(new PodCall(BOX, 1, kind, "e-1", json, Blob.utf8(blob)));
        }

        CompletableFuture<PodAnswer> call(String tool, String blob) {
            return ask("tool_call", "{'server':'web','tool':'" + tool + "','timeout_s':60}", blob);
        }
    }

    private static SharedServer server(String name, List<String> args) {
        return server(name, args, Map.of());
    }

    private static SharedServer server(String name, List<String> args, Map<String, SecretEntry> secrets) {
        return new SharedServer(
                FakeSharedServers.identity(name, 1),
                new Registration.Command(
                        name,
                        name.equals("absent") ? "no-such-program" : "python3",
                        args,
                        Map.of(),
                        "",
                        Duration.ofMinutes(1),
                        secrets),
                new ToolRules(null, List.of("d*"), null),
                SharedServer.Bounds.DEFAULT,
                Optional.empty());
    }

    @BeforeAll
    static void start() throws IOException {
        notes = Files.createTempFile("cancelled", ".txt");
        begun = Path.of(notes + ".begun");
        servers = new FakeSharedServers();
        handshakes = new FakeHandshakeNotes();
        servers.add(BOX, "sandglass-default", Map.of());
        servers.put(server("web", List.of(SERVER.toString(), "well", notes.toString())));
        servers.put(server("absent", List.of()));
        secrets = Files.createTempDirectory("secrets");
        for (String name : List.of("keyed", "keyless")) {
            servers.put(server(
                    name,
                    List.of(SERVER.toString(), "well"),
                    Map.of("TOKEN", new SecretEntry("sandglass-mcp-" + name, "token"))));
        }
        supervisor = SupervisorProcess.start(Map.of("SANDGLASS_MCP_SECRETS", secrets.toString()));
        one = Replica.start(supervisor.sandbox());
    }

    @AfterAll
    static void stop() throws IOException {
        one.links().close();
        supervisor.close();
        Files.deleteIfExists(notes);
        Files.deleteIfExists(begun);
        try (Stream<Path> files = Files.walk(secrets)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        }
    }

    @Test
    void aToolIsCalledAndItsResultIsThatOfTheServer() throws Exception {
        assertThat(JSON.readTree(blob(one.call("add", "{\"a\":1.5,\"b\":2}")))
                        .at("/structuredContent/sum")
                        .asDouble())
                .isEqualTo(3.5);
        assertThat(problem(one.call("unheard_of", "{}")).code()).isEqualTo("no_tool");
        assertThat(problem(one.call("add", "[]")).code()).isEqualTo("failed");
        assertThat(problem(one.call("dies", "{}")).code()).isEqualTo("not_allowed");
    }

    @Test
    void toolsAreListedWithTheirSchemas() throws Exception {
        String list = blob(one.ask("tool_list", "{'server':'web'}", ""));

        assertThat(JSON.readTree(list).at("/tools/0/inputSchema/required").toString())
                .isEqualTo("[\"a\",\"b\"]");
        assertThat(JSON.readTree(list).path("tools").valueStream())
                .extracting(tool -> tool.path("name").asString())
                .contains("add", "echo", "slow")
                .doesNotContain("dies");
        assertThat(one.ask("tool_servers", "{}", "").get().answer().json().at("/servers/3/tools/0/name"))
                .hasToString("\"add\"");
    }

    @Tag("slow")
    @Test
    void aCallThatIsGivenUpIsCancelledAtTheServer() throws Exception {
        var slow = one.call("slow", "{\"seconds\":30}");
        await().atMost(SOON).until(() -> Files.exists(begun));
        var answered = blob(one.call("echo", "{\"while\":\"it sleeps\"}"));
        assertThat(answered).contains("it sleeps");
        slow.cancel(false);

        await().atMost(SOON).until(() -> !Files.readString(notes).isEmpty());
        assertThat(problem(one.ask("tool_call", "{'server':'web','tool':'slow','timeout_s':0.3}", "{\"seconds\":30}"))
                        .code())
                .isEqualTo("timeout");
    }

    @Tag("slow")
    @Test
    void anotherReplicaRestartsNothingAndARestartedSupervisorIsToldAgain() throws Exception {
        String pid = blob(one.call("pid", "{}"));
        Replica two = Replica.start(supervisor.sandbox());
        try {
            assertThat(blob(two.call("pid", "{}"))).isEqualTo(pid);
            supervisor.restart();
            String other = blob(two.call("pid", "{}"));
            assertThat(other).isNotEqualTo(pid);
            // What was under way on the old connection may fail once; nothing was.
            assertThat(blob(one.call("pid", "{}"))).isEqualTo(other);
        } finally {
            two.links().close();
        }
    }

    @Test
    void aServerThatDoesNotStartSaysWhy() throws Exception {
        var why = problem(one.ask("tool_call", "{'server':'absent','tool':'a'}", "{}"));

        assertThat(why.code()).isEqualTo("not_running");
        assertThat(why.text()).contains("MCP server 'absent'", "no-such-program");
    }

    @Tag("slow")
    @Test
    void whatAServerIsIsNotedAndThatAnotherOneDoesNotStart() throws Exception {
        blob(one.ask("tool_list", "{'server':'web'}", ""));
        problem(one.ask("tool_call", "{'server':'absent','tool':'a'}", "{}"));

        await().atMost(SOON).untilAsserted(() -> assertThat(handshakes.noted).containsKeys("web", "absent"));
        ServerHandshake web = requireNonNull(handshakes.noted.get("web"));
        ServerInfo info = requireNonNull(web.serverInfo());
        assertThat(info.name()).isEqualTo("test");
        assertThat(info.version()).isEqualTo("1.0");
        assertThat(info.protocolVersion()).matches("20\\d\\d-\\d\\d-\\d\\d");
        assertThat(web.toolCount()).as("'dies' among them").isGreaterThanOrEqualTo(10);
        assertThat(web.toolsHash()).isNotNull();
        assertThat(requireNonNull(handshakes.noted.get("absent")).done()).isFalse();
    }

    private static void store(String secret, String token) throws IOException {
        Path folder = Files.createDirectories(secrets.resolve(secret));
        Files.writeString(folder.resolve("token"), token);
    }

    private static String token(String server) throws Exception {
        return blob(one.ask(
                "tool_call", "{'server':'" + server + "','tool':'env','timeout_s':60}", "{\"name\":\"TOKEN\"}"));
    }

    @Test
    void aVariableComesFromASecretAndANewValueWithTheNextStart() throws Exception {
        store("sandglass-mcp-keyed", "s3cret-one");
        assertThat(token("keyed")).contains("s3cret-one");
        store("sandglass-mcp-keyed", "s3cret-two");
        assertThat(token("keyed")).contains("s3cret-one");

        String pid = JSON.readTree(blob(one.ask("tool_call", "{'server':'keyed','tool':'pid','timeout_s':60}", "{}")))
                .at("/content/0/text")
                .asString();
        ProcessHandle.of(Long.parseLong(pid)).orElseThrow().destroyForcibly();
        await().atMost(Duration.ofMinutes(2)).ignoreExceptions().until(() -> token("keyed")
                .contains("s3cret-two"));
        assertThat(one.ask("tool_servers", "{}", "").get().answer().json().toString())
                .contains("keyed")
                .doesNotContain("s3cret");
    }

    @Tag("slow")
    @Test
    void aSecretThatIsNotThereIsNamedAndTheCallWorksWhenItIs() throws Exception {
        var why = problem(one.ask("tool_call", "{'server':'keyless','tool':'env'}", "{\"name\":\"TOKEN\"}"));

        assertThat(why.code()).isEqualTo("not_running");
        assertThat(why.text())
                .contains(
                        "MCP server 'keyless'",
                        "variable 'TOKEN': key 'token' of Secret 'sandglass-mcp-keyless' is not");
        store("sandglass-mcp-keyless", "s3cret-late");
        await().atMost(Duration.ofMinutes(2)).ignoreExceptions().until(() -> token("keyless")
                .contains("s3cret-late"));
    }
}
