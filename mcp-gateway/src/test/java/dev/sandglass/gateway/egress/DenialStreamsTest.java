package dev.sandglass.gateway.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** Streams of replicas that come, go, refuse and come back. */
class DenialStreamsTest {

    private static final String LINE =
            "{\"sandboxUid\":\"one\",\"host\":\"%s\",\"port\":443,\"reason\":\"not-allowed\"}\n";

    private final LoopResources loops = LoopResources.create("test", 1, true);
    private final DeniedHosts hosts = new DeniedHosts();
    private final AtomicInteger asked = new AtomicInteger();
    private volatile Sinks.Many<String> lines = Sinks.many().multicast().directBestEffort();
    private volatile String token = "token";
    private DisposableServer server = serve(0);
    private final DenialStreams streams = new DenialStreams(hosts, loops, server.port(), "token");

    private DisposableServer serve(int port) {
        return HttpServer.create()
                .host("127.0.0.1")
                .port(port)
                .route(routes -> routes.get("/denials", (request, response) -> {
                    asked.incrementAndGet();
                    return ("Bearer " + token).equals(request.requestHeaders().get("Authorization"))
                            ? response.send(
                                    Flux.concat(Mono.just("\n"), lines.asFlux()).map(DenialStreamsTest::bytes),
                                    each -> true)
                            : response.status(401).send();
                }))
                .bindNow();
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    @AfterEach
    void close() {
        streams.close();
        server.disposeNow(Duration.ofSeconds(30));
        loops.dispose();
    }

    private void hears(String host) {
        long begun = hosts.now();
        await().untilAsserted(() -> {
            lines.tryEmitNext(LINE.formatted(host));
            assertThat(hosts.take("one", begun))
                    .extracting(UnreachedHost::target)
                    .contains(host + ":443");
        });
    }

    @Test
    void hearsAndComesBackAfterAnEnd() {
        assertThat(hosts.isHearing()).isFalse();
        streams.follow(Set.of("127.0.0.1"));
        hears("a.example");
        assertThat(hosts.isHearing()).isTrue();
        Sinks.Many<String> first = lines;
        lines = Sinks.many().multicast().directBestEffort();
        first.tryEmitComplete();
        hears("b.example");
        int port = server.port();
        server.disposeNow(Duration.ofSeconds(30));
        // Open connections outlive the server's socket.
        Sinks.Many<String> second = lines;
        lines = Sinks.many().multicast().directBestEffort();
        second.tryEmitComplete();
        await().until(() -> !hosts.isHearing());
        server = serve(port);
        hears("c.example");
        assertThat(streams.open()).isEqualTo(1);
    }

    @Test
    void whoIsGoneIsLeft() {
        streams.follow(Set.of("127.0.0.1"));
        hears("a.example");
        streams.follow(Set.of());
        await().until(() -> !hosts.isHearing() && lines.currentSubscriberCount() == 0);
        assertThat(streams.open()).isZero();
    }

    @Tag("slow")
    @Test
    void aRefusalIsNoStream() {
        token = "another";
        streams.follow(Set.of("127.0.0.1"));
        await().until(() -> asked.get() >= 2);
        assertThat(hosts.isHearing()).isFalse();
        token = "token";
        hears("a.example");
    }
}
