package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.WebsocketServerSpec;

/** WebSockets through the gateway to a server on a sandbox's port. */
class SocketProxyTest {

    private final PortGateway gateway = new PortGateway();
    private final Queue<String> origins = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Integer> closedWith = new CompletableFuture<>();
    private DisposableServer server = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes.ws(
                            "/echo",
                            (in, out) -> {
                                origins.add(in.headers().get("Origin") + " "
                                        + in.headers().get("X-Forwarded-Host"));
                                in.receiveCloseStatus().subscribe(status -> closedWith.complete(status.code()));
                                return out.sendObject(in.receiveFrames().map(frame -> frame.retain()), _ -> true);
                            },
                            WebsocketServerSpec.builder()
                                    .protocols("second,third")
                                    .maxFramePayloadLength(4 * 1024 * 1024)
                                    .build())
                    .ws("/plain", (in, out) -> {
                        in.receiveCloseStatus().subscribe(status -> closedWith.complete(status.code()));
                        return out.sendObject(in.receiveFrames().map(frame -> frame.retain()), _ -> true);
                    })
                    .ws(
                            "/bye",
                            (in, out) -> out.sendObject(Mono.just(new TextWebSocketFrame("bye")))
                                    .then(out.sendClose(4001, "enough")),
                            WebsocketServerSpec.builder().protocols("first").build()))
            .bindNow();
    private RunningSandbox box;

    @BeforeEach
    void start() {
        box = gateway.box("uid-1", server.port());
    }

    @AfterEach
    void stop() {
        gateway.close();
        server.disposeNow(Duration.ofSeconds(30));
    }

    /** What a client hears. */
    private static final class Heard implements WebSocket.Listener {
        final Queue<String> texts = new ConcurrentLinkedQueue<>();
        final CompletableFuture<Integer> bytes = new CompletableFuture<>();
        final CompletableFuture<String> closed = new CompletableFuture<>();
        private int count;

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            texts.add(data.toString());
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            count += data.remaining();
            if (last) {
                bytes.complete(count);
            }
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            closed.complete(code + " " + reason);
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable problem) {
            closed.complete("broken");
        }
    }

    private CompletableFuture<WebSocket> open(String path, Heard heard) {
        return open(PortGateway.ALICE, path, heard);
    }

    private CompletableFuture<WebSocket> open(String key, String path, Heard heard) {
        return gateway.http
                .newWebSocketBuilder()
                .header("Authorization", "Bearer " + key)
                .subprotocols("first", "second")
                .buildAsync(URI.create(gateway.base().replace("http:", "ws:") + path), heard);
    }

    private WebSocket echo(Heard heard) throws Exception {
        return echo(PortGateway.ALICE, box, heard);
    }

    private WebSocket echo(String key, RunningSandbox where, Heard heard) throws Exception {
        String path = "/sandboxes/" + where.ref().tenant() + "/" + where.ref().name() + "/ports/" + server.port();
        WebSocket socket = open(key, path + "/echo", heard).get(10, TimeUnit.SECONDS);
        socket.sendText("up", true).get(10, TimeUnit.SECONDS);
        await().until(() -> heard.texts.contains("up"));
        return socket;
    }

    @Test
    void textsAndBytesGoThroughBothWays() throws Exception {
        var heard = new Heard();
        WebSocket socket = echo(heard);

        socket.sendText("hällo", true).get();
        await().until(() -> heard.texts.contains("hällo"));
        socket.sendBinary(ByteBuffer.allocate(2 * 1024 * 1024), true).get();
        assertThat(heard.bytes.get(10, TimeUnit.SECONDS)).isEqualTo(2 * 1024 * 1024);

        assertThat(socket.getSubprotocol()).isEqualTo("second");
        // With a forwarded host, some servers (code-server) would compare the origin with that.
        assertThat(origins).containsExactly("http://localhost:" + server.port() + " null");
    }

    @Test
    void theServersClosingReachesTheClient() throws Exception {
        var heard = new Heard();
        var _ = open(PortGateway.path(server.port(), "/bye"), heard).get(10, TimeUnit.SECONDS);

        assertThat(heard.closed.get(10, TimeUnit.SECONDS)).isEqualTo("4001 enough");
        assertThat(heard.texts).containsExactly("bye");
    }

    @Test
    void aLinkOpensASocketToo() throws Exception {
        var heard = new Heard();
        WebSocket socket = gateway.http
                .newWebSocketBuilder()
                .subprotocols("second")
                .buildAsync(URI.create(gateway.base().replace("http:", "ws:") + gateway.link(box) + "echo"), heard)
                .get(10, TimeUnit.SECONDS);

        socket.sendText("x", true).get();
        await().until(() -> heard.texts.contains("x"));
    }

    @Test
    void aSocketNeedsNoSubprotocol() throws Exception {
        var heard = new Heard();
        WebSocket socket = gateway.http
                .newWebSocketBuilder()
                .header("Authorization", "Bearer " + PortGateway.ALICE)
                .buildAsync(
                        URI.create(gateway.base().replace("http:", "ws:") + PortGateway.path(server.port(), "/plain")),
                        heard)
                .get(10, TimeUnit.SECONDS);

        socket.sendText("x", true).get();
        await().until(() -> heard.texts.contains("x"));
        socket.sendClose(4002, "done").get();
        assertThat(closedWith.get(10, TimeUnit.SECONDS)).isEqualTo(4002);
    }

    @Test
    void withoutRightOrServerThereIsNoSocket() {
        var strange = gateway.http
                .newWebSocketBuilder()
                .buildAsync(
                        URI.create(gateway.base().replace("http:", "ws:") + PortGateway.path(server.port(), "/echo")),
                        new Heard());
        assertThatThrownBy(() -> strange.get(10, TimeUnit.SECONDS)).hasStackTraceContaining("401");
        assertThatThrownBy(() -> open(PortGateway.path(server.port(), "/none"), new Heard())
                        .get(10, TimeUnit.SECONDS))
                .hasStackTraceContaining("502");
    }

    /** Whoever came in by a key or by a link is no stranger any more. */
    @Test
    void aFloodOfStrangersEndsNoSocket() throws Exception {
        var byKey = new Heard();
        WebSocket first = echo(byKey);
        var byLink = new Heard();
        WebSocket second = gateway.http
                .newWebSocketBuilder()
                .subprotocols("second")
                .buildAsync(URI.create(gateway.base().replace("http:", "ws:") + gateway.link(box) + "echo"), byLink)
                .get(10, TimeUnit.SECONDS);
        List<Socket> flood = new ArrayList<>();
        for (int i = 0; i < 3 * PortGateway.MOST_STRANGERS; i++) {
            flood.add(new Socket(InetAddress.getLoopbackAddress(), gateway.port()));
        }
        // All of the flood were let in before this one.
        echo(new Heard());

        first.sendText("still", true).get();
        second.sendText("here", true).get();
        await().until(() -> byKey.texts.contains("still") && byLink.texts.contains("here"));
        for (Socket each : flood) {
            each.close();
        }
    }

    /** An open connection is looked at every five seconds: all three ends are waited for together. */
    @Tag("slow")
    @Test
    void anOpenSocketEndsWithTheSandboxOrThePortOrTheKeyOfItsCaller() throws Exception {
        var ofStopped = new Heard();
        var _ = echo(ofStopped);
        RunningSandbox bag = gateway.sandbox("bag", "uid-2", server.port());
        var ofUndeclared = new Heard();
        var _ = echo(PortGateway.ALICE, bag, ofUndeclared);
        RunningSandbox others = gateway.sandbox("other", "box", "uid-3", server.port());
        var ofRevoked = new Heard();
        var _ = echo(PortGateway.BOB, others, ofRevoked);
        RunningSandbox kept = gateway.sandbox("kept", "uid-4", server.port());
        var ofNone = new Heard();
        WebSocket stays = echo(PortGateway.ALICE, kept, ofNone);

        gateway.sandboxes.put(new SandboxState.Stopped(box.ref(), box.uid()));
        gateway.sandbox("bag", "uid-2", 8000);
        gateway.revoke(PortGateway.BOB);

        assertThat(endedBeforeIdling(ofStopped)).as("the sandbox stopped").isNotEmpty();
        assertThat(endedBeforeIdling(ofUndeclared))
                .as("its port is no longer declared")
                .isNotEmpty();
        assertThat(endedBeforeIdling(ofRevoked)).as("its caller's key is gone").isNotEmpty();
        stays.sendText("still", true).get(10, TimeUnit.SECONDS);
        await().until(() -> ofNone.texts.contains("still"));
    }

    private static String endedBeforeIdling(Heard heard) throws Exception {
        return heard.closed.get(PortGateway.IDLE.toMillis() - 1000, TimeUnit.MILLISECONDS);
    }
}
