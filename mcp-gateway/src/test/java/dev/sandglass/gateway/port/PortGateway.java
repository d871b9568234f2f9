package dev.sandglass.gateway.port;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.caller.TrustedProxies;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.http.ConnectionLimiter;
import dev.sandglass.gateway.http.ConnectionSettings;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.port.PortSettings.ReachedBy;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.websocket.SocketSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.json.JsonMapper;

/** The routes of ports on a port of this machine, before a sandbox {@code box} whose servers run on loopback. */
public final class PortGateway implements AutoCloseable {

    public static final String ALICE = "key-of-alice";

    /** Its caller is Alice, which another thread finds out after a while. */
    static final String LATE = "late-key-of-alice";

    /** Whose it is cannot be found out. */
    static final String UNKNOWABLE = "unknowable";

    static final String BOB = "key-of-bob";
    /** From there, {@code X-Forwarded-For} is believed. */
    static final String PROXY = "127.0.0.2";

    /** Longer than a busy machine takes for anything. */
    static final Duration IDLE = Duration.ofSeconds(30);

    static final int MOST = 4;
    static final int MOST_OF_TENANT = 6;
    static final int MOST_STRANGERS = 8;
    private static final ConnectionSettings CONNECTIONS =
            new ConnectionSettings(Duration.ofSeconds(10), MOST_STRANGERS, 4096);
    static final SocketSettings SOCKETS =
            new SocketSettings(4 << 20, 16 << 20, 24 << 20, 40 << 20, Duration.ofSeconds(30));

    final FakeSandboxes sandboxes = new FakeSandboxes();
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    public final HttpClient http = HttpClient.newHttpClient();
    volatile Instant now = Instant.parse("2026-11-22T12:00:00Z");

    private final Map<String, Caller> callers = new ConcurrentHashMap<>(
            Map.of(ALICE, new Caller("alice", List.of("default")), BOB, new Caller("bob", List.of("other"))));
    private final FakeSupervisor supervisor = new FakeSupervisor();
    private final LoopResources loops = LoopResources.create("ports", 1, true);
    private final PortAddresses addresses;
    private final DisposableServer server;

    private final PortRoute route;

    public PortGateway() {
        this(Optional.empty());
    }

    public PortGateway(Optional<LinkClient> links) {
        this(links, ReachedBy.LINKS, SOCKETS);
    }

    public PortGateway(SocketSettings sockets) {
        this(Optional.empty(), ReachedBy.LINKS, sockets);
    }

    public PortGateway(Optional<LinkClient> links, ReachedBy reachedBy) {
        this(links, reachedBy, SOCKETS);
    }

    /** One that lets so many of each sandbox in, and no fewer of a tenant and of all. */
    public PortGateway(int connections) {
        this(Optional.empty(), ReachedBy.LINKS, SOCKETS, IDLE, connections, connections, connections);
    }

    /** One that ends a connection on which nothing moves for so long. */
    public PortGateway(Duration idle) {
        this(Optional.empty(), ReachedBy.LINKS, SOCKETS, idle, MOST, MOST_OF_TENANT, 2 * MOST);
    }

    private PortGateway(Optional<LinkClient> links, ReachedBy reachedBy, SocketSettings sockets) {
        this(links, reachedBy, sockets, IDLE, MOST, MOST_OF_TENANT, 2 * MOST);
    }

    private PortGateway(
            Optional<LinkClient> links,
            ReachedBy reachedBy,
            SocketSettings sockets,
            Duration idle,
            int most,
            int mostOfTenant,
            int mostOfAll) {
        var secret = new LinkSecret("a link secret for tests only, 32 bytes".getBytes(StandardCharsets.US_ASCII));
        var settings = new PortSettings(
                null,
                Duration.ofMinutes(10),
                idle,
                Duration.ofSeconds(2),
                most,
                mostOfTenant,
                mostOfAll,
                reachedBy,
                sockets);
        this.addresses = new PortAddresses(secret, settings, () -> now);
        var executions = new Executions(links.orElse(supervisor), sandboxes::ends);
        var around = new PortRoute.Surroundings(
                new Known(),
                new TenantAccess(Tenants.parse(List.of("default=sandglass-default", "other=sandglass-other"))),
                sandboxes,
                executions.sessions(),
                secret);
        this.route = PortRoute.of(around, settings, loops, meters, () -> now);
        var proxies = TrustedProxies.parse(List.of(PROXY + "/32"));
        this.server = proxies.heardBy(ConnectionLimiter.of(HttpServer.create(), CONNECTIONS))
                .host("127.0.0.1")
                .port(0)
                .runOn(loops)
                .route(route::apply)
                .bindNow();
    }

    private final class Known implements Callers {
        @Override
        public Mono<Caller> callerOf(String token) {
            return switch (token) {
                case LATE -> Mono.delay(Duration.ofMillis(20)).mapNotNull(_ -> callers.get(ALICE));
                case UNKNOWABLE -> Mono.error(new IOException("the issuer does not answer"));
                default -> Mono.justOrEmpty(callers.get(token));
            };
        }

        @Override
        public Mono<Caller> named(String name) {
            return Mono.justOrEmpty(callers.values().stream()
                    .filter(caller -> caller.name().equals(name))
                    .findFirst());
        }
    }

    /** Takes a key away. */
    public void revoke(String key) {
        callers.remove(key);
    }

    /** The sandbox {@code box} of the tenant {@code default}, running with such ports. */
    public RunningSandbox box(String uid, int... ports) {
        return sandbox("box", uid, ports);
    }

    public RunningSandbox sandbox(String name, String uid, int... ports) {
        return sandbox("default", name, uid, ports);
    }

    /** One of the tenant {@code default}, which is Alice's, or {@code other}, which is Bob's. */
    public RunningSandbox sandbox(String tenant, String name, String uid, int... ports) {
        var ref = new SandboxRef(tenant, "sandglass-" + tenant, name, name);
        var declared = IntStream.of(ports)
                .mapToObj(port -> new SandboxPort(null, port))
                .toList();
        var sandbox = new RunningSandbox(ref, uid, 1, "127.0.0.1", 5710, declared);
        sandboxes.put(new SandboxState.Running(sandbox));
        return sandbox;
    }

    public String base() {
        return "http://127.0.0.1:" + server.port();
    }

    public int port() {
        return server.port();
    }

    /** The address for programs of a place on a port of {@code box}. */
    public static String path(int port, String rest) {
        return "/sandboxes/default/box/ports/" + port + rest;
    }

    /** Bytes of WebSockets' frames under way. */
    public long frameBytes() {
        return route.frames().held();
    }

    /** A link to the first declared port, with a slash at its end. */
    public String link(RunningSandbox sandbox) {
        return String.valueOf(addresses
                .of(new Caller("alice", List.of("default")), sandbox)
                .getFirst()
                .link());
    }

    /** A request with Alice's key. */
    public HttpRequest.Builder request(String path) {
        return anonymous(path).header("Authorization", "Bearer " + ALICE);
    }

    public HttpRequest.Builder anonymous(String path) {
        return HttpRequest.newBuilder(URI.create(base() + path)).timeout(Duration.ofSeconds(20));
    }

    public HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** The text of a refusal. */
    public static String error(HttpResponse<String> response) {
        return JsonMapper.shared().readTree(response.body()).path("error").asString("");
    }

    @Override
    public void close() {
        http.shutdownNow();
        server.disposeNow(Duration.ofSeconds(30));
        supervisor.close();
        loops.dispose();
    }
}
