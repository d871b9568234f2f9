package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.http.ConnectionSettings;
import dev.sandglass.gateway.testing.TestGateway;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Those without a key cannot shut out those who have one. */
class StrangersTest {

    private static final int MOST = 4;
    private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

    private final TestGateway gateway =
            TestGateway.start(new ConnectionSettings(Duration.ofSeconds(10), MOST, 2 * MOST));
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        gateway.close();
    }

    private void flood() throws Exception {
        var ended = new AtomicInteger();
        for (int i = 0; i < 3 * MOST; i++) {
            var socket = new Socket(
                    InetAddress.getLoopbackAddress(), URI.create(gateway.base()).getPort());
            open.add(socket);
            Thread.startVirtualThread(() -> {
                try {
                    if (socket.getInputStream().read() < 0) {
                        ended.incrementAndGet();
                    }
                } catch (IOException over) {
                    // The test is.
                }
            });
        }
        // All have come: whoever comes now is the newest.
        await().until(() -> ended.get() == 2 * MOST);
        assertThat(gateway.send(gateway.post(LIST)).statusCode()).isEqualTo(200);
    }

    private RawClient client(String key, String body) throws Exception {
        var client = RawClient.begun(gateway, key, body.length(), body);
        open.add(client);
        return client;
    }

    @Test
    void whoShowedAKeyStaysAndWhoShowedAWrongOneGoes() throws Exception {
        RawClient caller = client(TestGateway.KEY, LIST);
        RawClient stranger = RawClient.begun(gateway, "wrong", 0, "");
        open.add(stranger);
        await().until(() -> caller.received().startsWith("HTTP/1.1 200"));
        await().until(() -> stranger.received().startsWith("HTTP/1.1 401"));
        assertThat(stranger.isEnded()).isFalse();

        flood();

        await().until(stranger::isEnded);
        assertThat(caller.isEnded()).isFalse();
    }

    @Test
    void aRefusalWithABodyToComeEndsTheConnection() throws Exception {
        var stranger = RawClient.begun(gateway, "wrong", 1000, "half");
        open.add(stranger);
        var greedy = RawClient.begun(gateway, TestGateway.KEY, 64 * 1024 + 1, "half");
        open.add(greedy);

        await().until(stranger::isEnded);
        assertThat(stranger.received()).startsWith("HTTP/1.1 401").containsIgnoringCase("connection: close");
        await().until(greedy::isEnded);
        assertThat(greedy.received()).startsWith("HTTP/1.1 413").containsIgnoringCase("connection: close");
    }

    @Test
    void aCallThatIsServedIsNotEndedByAFlood() throws Exception {
        gateway.sandboxes.addRunning("box");
        RawClient caller = client(
                TestGateway.KEY, TestGateway.toolCall("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"hang\"}"));
        await().until(() -> gateway.supervisor.verbs.size() == 1);

        flood();

        assertThat(caller.isEnded()).isFalse();
    }
}
