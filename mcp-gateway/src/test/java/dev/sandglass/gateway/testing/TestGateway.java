package dev.sandglass.gateway.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.action.Actions;
import dev.sandglass.gateway.action.OwnPods;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.dropin.codemode.CodeModeContract;
import dev.sandglass.gateway.contract.dropin.ipybox.IpyboxContract;
import dev.sandglass.gateway.contract.dropin.ipython.IpythonContract;
import dev.sandglass.gateway.contract.sandglass.SandglassContract;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.http.ConnectionLimiter;
import dev.sandglass.gateway.http.ConnectionSettings;
import dev.sandglass.gateway.http.UnreadableRequests;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.mcp.CancellationRelay;
import dev.sandglass.gateway.mcp.McpRoute;
import dev.sandglass.gateway.mcp.McpSettings;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.port.PortRoute;
import dev.sandglass.gateway.port.PortSettings;
import dev.sandglass.gateway.port.PortSettings.ReachedBy;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.toolcall.SharedServerList;
import dev.sandglass.gateway.toolcall.ToolCalls;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.HandshakeNotes;
import dev.sandglass.gateway.websocket.SocketSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The endpoint on a port of this machine, before sandboxes that a test makes up. */
public final class TestGateway implements AutoCloseable {

    /** Key of a caller with the tenant {@code default}. */
    public static final String KEY = "key-of-alice";

    /** Key of a caller with the tenant {@code other} alone. */
    public static final String OTHER_KEY = "key-of-bob";

    /** A web page that may call. */
    public static final String ORIGIN = "https://agents.example.com";

    /** Its caller is Alice, which another thread finds out after a while. */
    public static final String LATE_KEY = "late-key-of-alice";

    /** Whose it is cannot be found out. */
    public static final String UNKNOWABLE_KEY = "unknowable";

    private static final Map<String, Caller> CALLERS =
            Map.of(KEY, new Caller("alice", List.of("default")), OTHER_KEY, new Caller("bob", List.of("other")));

    private static final int NOBODY = 0;

    /** Longer than a busy machine takes for anything, and shorter than callers wait. */
    private static final Duration USUAL = Duration.ofSeconds(15);

    private static final LoopResources TO_OTHERS = LoopResources.create("to-others", 1, true);

    private static final LinkSecret SECRET =
            new LinkSecret("a link secret for tests only, 32 bytes".getBytes(StandardCharsets.US_ASCII));

    private static final McpSettings MCP = new McpSettings(64 * 1024, 24 << 20, 64 << 20, Duration.ofSeconds(10));

    private static final ConnectionSettings CONNECTIONS = new ConnectionSettings(Duration.ofSeconds(10), 512, 4096);

    private static final SocketSettings SOCKETS =
            new SocketSettings(4 << 20, 16 << 20, 24 << 20, 40 << 20, Duration.ofSeconds(30));

    /** The sandboxes behind it. */
    public final FakeSandboxes sandboxes = new FakeSandboxes();

    /** The MCP servers that they share. */
    public final FakeSharedServers shared = new FakeSharedServers();

    /** Those that agents register in pods of their own; all of them are permitted. */
    public final FakeAgentServers agentServers = new FakeAgentServers(shared, sandboxes);

    /** The supervisor in all of them. */
    public final FakeSupervisor supervisor = new FakeSupervisor();

    /** What runs in them. */
    public final Executions executions;

    /** What the network refused. */
    public final DeniedHosts denied = new DeniedHosts();

    /** Its metrics. */
    public final SimpleMeterRegistry meters = new SimpleMeterRegistry();

    private final HttpClient http = HttpClient.newHttpClient();
    private final CancellationRelay others;
    private final JsonMapper json = JsonMapper.shared();
    private final McpRoute route;
    private final DisposableServer server;

    private TestGateway(
            @Nullable LinkClient links,
            McpSettings mcp,
            ConnectionSettings connections,
            ReachedBy reachedBy,
            int otherPort,
            Duration startWait) {
        this(links, mcp, connections, reachedBy, otherPort, startWait, (actions, access) -> List.of());
    }

    private TestGateway(
            @Nullable LinkClient links,
            McpSettings mcp,
            ConnectionSettings connections,
            ReachedBy reachedBy,
            int otherPort,
            Duration startWait,
            BiFunction<Actions, TenantAccess, List<Contract>> more) {
        ToolSettings tools = tools(startWait);
        this.others = new CancellationRelay(TO_OTHERS, otherPort);
        this.executions = new Executions(links == null ? supervisor : links, sandboxes::ends);
        Callers callers = token -> switch (token) {
            case LATE_KEY -> Mono.delay(Duration.ofMillis(20)).mapNotNull(_ -> CALLERS.get(KEY));
            case UNKNOWABLE_KEY -> Mono.error(new IOException("the issuer does not answer"));
            default -> Mono.justOrEmpty(CALLERS.get(token));
        };
        var tenants = Tenants.parse(List.of("default=sandglass-default", "other=sandglass-other"));
        var access = new TenantAccess(tenants);
        var list = new SharedServerList(shared, sandboxes::find);
        var calls = new ToolCalls(
                shared, list, sandboxes, executions::link, meters, new ToolCalls.Reports(HandshakeNotes.NONE, denied));
        var ownPods = new OwnPods(
                new AgentServerSettings(AgentServerSettings.Permitted.ALL, List.of("packages.example.com")),
                List.of("usual.example.com"),
                agentServers,
                shared,
                calls::start);
        Actions actions = Actions.of(sandboxes, executions, denied, list, ownPods);
        var contracts = new ArrayList<Contract>(more.apply(actions, access));
        contracts.add(new SandglassContract(actions, access, ports(reachedBy), tools));
        contracts.add(new IpythonContract(actions, access, SECRET, tools));
        contracts.add(new IpyboxContract(actions, access, SECRET, tools));
        contracts.add(new CodeModeContract(actions, access, SECRET, tools));
        this.route = McpRoute.of(
                contracts, new McpRoute.Entrants(callers, access, Set.of(ORIGIN)), mcp, "test", others, meters);
        // The system holds little, so that a client that does not read is noticed.
        HttpServer limited =
                ConnectionLimiter.of(HttpServer.create().childOption(ChannelOption.SO_SNDBUF, 64 * 1024), connections);
        this.server = UnreadableRequests.of(limited, route::refusal, PortRoute::isPort)
                .host("127.0.0.1")
                .port(0)
                .route(routes -> route.elsewhere(route.apply(routes)))
                .bindNow();
    }

    /** Before supervisors that a test started itself. */
    public static TestGateway start(LinkClient links) {
        return new TestGateway(links, MCP, CONNECTIONS, ReachedBy.LINKS, NOBODY, USUAL);
    }

    /** Before the stand-in for a supervisor. */
    public static TestGateway start() {
        return start(MCP);
    }

    /** With other bounds of the endpoint. */
    public static TestGateway start(McpSettings mcp) {
        return new TestGateway(null, mcp, CONNECTIONS, ReachedBy.LINKS, NOBODY, USUAL);
    }

    /** Where ports are reached so. */
    public static TestGateway start(ReachedBy reachedBy) {
        return new TestGateway(null, MCP, CONNECTIONS, reachedBy, NOBODY, USUAL);
    }

    /** With other bounds of connections. */
    public static TestGateway start(ConnectionSettings connections) {
        return new TestGateway(null, MCP, connections, ReachedBy.LINKS, NOBODY, USUAL);
    }

    /** One that waits for starts and for answers to short questions just so long. */
    public static TestGateway waiting(Duration wait) {
        return new TestGateway(null, MCP, CONNECTIONS, ReachedBy.LINKS, NOBODY, wait);
    }

    /** One that hardly waits at all, for tests of what is told then. */
    public static TestGateway hasty() {
        return waiting(Duration.ofMillis(300));
    }

    /** One that waits for starts as long as a test could. */
    public static TestGateway patient() {
        return new TestGateway(null, MCP, CONNECTIONS, ReachedBy.LINKS, NOBODY, Duration.ofMinutes(5));
    }

    /** The same before supervisors that a test started itself. */
    public static TestGateway patient(LinkClient links) {
        return new TestGateway(links, MCP, CONNECTIONS, ReachedBy.LINKS, NOBODY, Duration.ofMinutes(5));
    }

    /** One that serves another contract beside ours. */
    public static TestGateway beside(BiFunction<Actions, TenantAccess, Contract> other) {
        return besides(NOBODY, other);
    }

    /** A replica that knows of others on this machine, at that port. */
    public static TestGateway besides(int otherPort, String... addresses) {
        var gateway = new TestGateway(null, MCP, CONNECTIONS, ReachedBy.LINKS, otherPort, USUAL);
        gateway.others.follow(Set.of(addresses));
        return gateway;
    }

    /** The same, with another contract beside ours. */
    public static TestGateway besides(
            int otherPort, BiFunction<Actions, TenantAccess, Contract> other, String... addresses) {
        var gateway = new TestGateway(
                null,
                MCP,
                CONNECTIONS,
                ReachedBy.LINKS,
                otherPort,
                USUAL,
                (actions, access) -> List.of(other.apply(actions, access)));
        gateway.others.follow(Set.of(addresses));
        return gateway;
    }

    private static ToolSettings tools(Duration startWait) {
        return new ToolSettings(
                Duration.ofMinutes(2),
                Duration.ofHours(1),
                Duration.ofSeconds(20),
                20_000,
                startWait,
                startWait.compareTo(USUAL) < 0 ? startWait : USUAL);
    }

    /** Tells the addresses of ports, as a gateway that does not know its own. */
    public static PortAddresses ports() {
        return ports(ReachedBy.LINKS);
    }

    private static PortAddresses ports(ReachedBy reachedBy) {
        Duration soon = Duration.ofSeconds(2);
        return new PortAddresses(
                SECRET,
                new PortSettings(null, Duration.ofMinutes(10), soon, soon, 4, 6, 8, reachedBy, SOCKETS),
                Clock.systemUTC());
    }

    /** Bytes of the bodies of requests under way. */
    public long bodyBytes() {
        return route.bodies().held();
    }

    /** Bytes of answers of executions that are made or being written. */
    public long answerBytes() {
        return executions.answerBytes();
    }

    /** Waits until a sandbox's kernel has started, for which no call of a tool is patient enough on a busy machine. */
    public void awaitKernel(RunningSandbox sandbox) {
        executions.awaitKernel(sandbox).block(Duration.ofMinutes(2));
    }

    /** The port at which it listens. */
    public int port() {
        return server.port();
    }

    /** Where it listens, without path. */
    public String base() {
        return "http://127.0.0.1:" + server.port();
    }

    /** A POST with the key and the headers that every client sends, for answers with data beside their text. */
    public HttpRequest.Builder post(String body) {
        return HttpRequest.newBuilder(URI.create(base() + "/mcp?structured=true"))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Bearer " + KEY)
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    /** Sends, and waits for the whole answer. */
    public HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Sends, and gives each line of the answer when it comes. */
    public Stream<String> lines(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofLines()).body();
    }

    /** The JSON in an answer. */
    public JsonNode json(HttpResponse<String> response) {
        return json.readTree(response.body());
    }

    /** Calls a tool as a client of the older revisions does; the result, of which no text is blank. */
    public JsonNode call(String tool, String arguments) throws IOException, InterruptedException {
        return call(KEY, tool, arguments);
    }

    /** The same with another key. */
    public JsonNode call(String key, String tool, String arguments) throws IOException, InterruptedException {
        JsonNode answer = json(send(post(toolCall(tool, arguments)).setHeader("Authorization", "Bearer " + key)));
        JsonNode result = answer.path("result");
        // No model takes one (ToolResult).
        assertThat(result.path("content").valueStream())
                .filteredOn(part -> part.path("type").asString().equals("text"))
                .noneMatch(part -> part.path("text").asString().isBlank());
        return result;
    }

    /** What clients are told of all tools. */
    public JsonNode definitions() throws IOException, InterruptedException {
        String question = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}";
        return json(send(post(question))).path("result").path("tools");
    }

    /** What clients are told of a tool. */
    public JsonNode definition(String tool) throws IOException, InterruptedException {
        return definitions()
                .valueStream()
                .filter(each -> each.path("name").asString().equals(tool))
                .findFirst()
                .orElseThrow();
    }

    /** The message of a tool call. */
    public static String toolCall(String tool, String arguments) {
        return """
                {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s","arguments":%s}}""".formatted(tool, arguments);
    }

    /** The first text of a tool's result. */
    public static String text(JsonNode result) {
        return result.path("content").path(0).path("text").asString("");
    }

    @Override
    public void close() {
        server.disposeNow(Duration.ofSeconds(30));
        others.close();
        supervisor.close();
        http.shutdownNow();
    }
}
