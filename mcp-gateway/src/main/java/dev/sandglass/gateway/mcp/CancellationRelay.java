package dev.sandglass.gateway.mcp;

import dev.sandglass.api.ForeignText;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.MediaType;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The other replicas of this gateway. A client cancels by a request of its own, which a Service hands to any of them; the
 * one that does not run the call tells the others, with the client's own credentials, so that nobody can cancel more by
 * this way than by asking there. A replica that does not answer soon is left out: the call's time-out holds everywhere. The
 * end of a session goes the same way, so that no replica serves it any longer.
 */
public final class CancellationRelay implements AutoCloseable {

    /** Most replicas that are told. */
    static final int MAX_REPLICAS = 64;

    private static final int MAX_CAUSE_CHARS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(CancellationRelay.class);
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int CONNECT_MS = 1000;
    private static final int CONNECTIONS = 8;
    private static final int WAITING = 64;

    private final ConnectionProvider connections = ConnectionProvider.builder("other-replicas")
            .maxConnections(CONNECTIONS)
            .pendingAcquireMaxCount(WAITING)
            .maxIdleTime(Duration.ofSeconds(30))
            .build();
    private final HttpClient http;
    private final int port;
    private volatile List<String> addresses = List.of();
    private volatile Set<InetAddress> known = Set.of();

    /**
     * Knows of none yet.
     *
     * @param port at which all of them serve
     */
    public CancellationRelay(LoopResources loops, int port) {
        this.port = port;
        this.http = HttpClient.create(connections)
                .runOn(loops)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MS)
                .responseTimeout(PATIENCE);
    }

    /**
     * Tells exactly those from now on.
     *
     * @param all addresses, not names
     */
    public void follow(Set<String> all) {
        addresses = all.stream().sorted().limit(MAX_REPLICAS).toList();
        known = all.stream().map(InetAddress::ofLiteral).collect(Collectors.toUnmodifiableSet());
    }

    /** Whether one of them has that address: what it says of the client whose message it passes on is believed. */
    boolean areAt(@Nullable InetAddress peer) {
        return peer != null && known.contains(peer);
    }

    /**
     * Passes a cancellation on, unless another replica did so already; ends when all have it, or in two seconds.
     *
     * @param path of the contract that it came to
     */
    Mono<Void> cancel(HttpExchange from, String path, JsonNode requestId) {
        if (passedOn(from) || addresses.isEmpty()) {
            return Mono.empty();
        }
        byte[] body = JSON.writeValueAsBytes(Map.of(
                "jsonrpc", "2.0", "method", "notifications/cancelled", "params", Map.of("requestId", requestId)));
        HttpClient asClient = http.headers(headers -> identify(headers, from));
        return Flux.fromIterable(addresses)
                .flatMap(address -> tell(asClient, HttpMethod.POST, address, path, body), MAX_REPLICAS)
                .then();
    }

    /** Whether another replica passes that request on; a client that says so of its own is not believed. */
    boolean passedOn(HttpExchange from) {
        return from.header(Client.PASSED_ON) != null && areAt(from.peer());
    }

    /**
     * Passes the end of a session on, unless another replica did so already; ends when all have it, or in two seconds.
     *
     * @param path of the contract whose session it is
     */
    Mono<Void> ended(HttpExchange from, String path) {
        if (passedOn(from) || addresses.isEmpty()) {
            return Mono.empty();
        }
        HttpClient asClient = http.headers(headers -> identify(headers, from));
        return Flux.fromIterable(addresses)
                .flatMap(address -> tell(asClient, HttpMethod.DELETE, address, path, new byte[0]), MAX_REPLICAS)
                .then();
    }

    private static void identify(HttpHeaders headers, HttpExchange from) {
        headers.set(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE);
        headers.set(Client.PASSED_ON, from.clientAddress());
        for (CharSequence name : List.of(HttpHeaderNames.AUTHORIZATION, Client.SESSION)) {
            @Nullable String value = from.header(name);
            if (value != null) {
                headers.set(name, value);
            }
        }
    }

    private Mono<Void> tell(HttpClient client, HttpMethod method, String address, String path, byte[] body) {
        return client.remoteAddress(() -> new InetSocketAddress(address, port))
                .request(method)
                .uri(path)
                .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
                .response()
                .timeout(PATIENCE)
                .then()
                .onErrorResume(problem -> {
                    LOG.atWarn()
                            .addKeyValue("replica", address)
                            .addKeyValue(
                                    "cause", ForeignText.line(String.valueOf(problem.getMessage()), MAX_CAUSE_CHARS))
                            .log("A cancellation or the end of a session did not reach another replica");
                    return Mono.empty();
                });
    }

    @Override
    public void close() {
        connections.dispose();
    }
}
