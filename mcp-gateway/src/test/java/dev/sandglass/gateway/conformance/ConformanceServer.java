package dev.sandglass.gateway.conformance;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.http.ConnectionLimiter;
import dev.sandglass.gateway.http.ConnectionSettings;
import dev.sandglass.gateway.mcp.CancellationRelay;
import dev.sandglass.gateway.mcp.McpRoute;
import dev.sandglass.gateway.mcp.McpSettings;
import dev.sandglass.testing.TrainedProgram;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/**
 * The endpoint with the suite's contract and those that are shipped, on a port of loopback: the gateway's route, filter,
 * dispatcher and bounds of connections. Prints its URL and serves until its standard input ends.
 */
public final class ConformanceServer {

    private static final String KEY = "key-of-the-suite";
    private static final Caller SUITE = new Caller("suite", List.of("default"));
    private static final McpSettings MCP = new McpSettings(64 * 1024, 24 << 20, 64 << 20, Duration.ofSeconds(10));
    private static final ConnectionSettings CONNECTIONS = new ConnectionSettings(Duration.ofSeconds(10), 64, 64);
    private static final int NO_OTHERS = 0;

    private ConformanceServer() {}

    /** Serves. */
    public static void main(String[] none) throws IOException {
        int port = TrainedProgram.freePort();
        String base = "http://127.0.0.1:" + port;
        LoopResources loops = LoopResources.create("conformance", 1, true);
        try (var others = new CancellationRelay(loops, NO_OTHERS)) {
            DisposableServer server = start(port, route(base, others));
            System.out.println(base + "/mcp");
            while (System.in.read() >= 0) {
                // Whoever started this holds the other end, and ends it with itself.
            }
            server.disposeNow(Duration.ofSeconds(30));
        }
        // Threads of the stand-ins would go on.
        System.exit(0);
    }

    /** The suite's pages come from the endpoint's own origin; any other must be refused. */
    private static McpRoute route(String origin, CancellationRelay others) {
        Callers callers = token -> Mono.just(SUITE).filter(_ -> token.equals(KEY));
        var access = new TenantAccess(Tenants.parse(List.of("default=sandglass-default")));
        var entrants = new McpRoute.Entrants(callers, access, Set.of(origin));
        var contracts = new ArrayList<Contract>(ShippedContracts.of(access));
        contracts.add(new ConformanceContract());
        return McpRoute.of(contracts, entrants, MCP, "test", others, new SimpleMeterRegistry());
    }

    private static DisposableServer start(int port, McpRoute route) {
        return ConnectionLimiter.of(HttpServer.create(), CONNECTIONS)
                .doOnChannelInit((observer, channel, address) ->
                        channel.pipeline().addAfter(NettyPipeline.HttpCodec, "key", new KeyHolder()))
                .host("127.0.0.1")
                .port(port)
                .route(route::apply)
                .bindNow();
    }

    /**
     * Adds the key, which the suite cannot send. A forwarder in front would also write all headers anew, and so hide from
     * the suite what we make of odd ones.
     */
    private static final class KeyHolder extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest request) {
                request.headers().set(HttpHeaderNames.AUTHORIZATION, "Bearer " + KEY);
            }
            context.fireChannelRead(message);
        }
    }
}
