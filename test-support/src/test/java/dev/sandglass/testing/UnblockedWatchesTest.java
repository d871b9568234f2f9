package dev.sandglass.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.mockwebserver.dsl.HttpMethod;
import io.fabric8.mockwebserver.http.Buffer;
import io.fabric8.mockwebserver.http.Dispatcher;
import io.fabric8.mockwebserver.http.Headers;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class UnblockedWatchesTest {

    private static final String MAPS = "/api/v1/namespaces/some/configmaps";

    private final Dispatcher mock = new UnblockedWatches<>(new KubernetesCrudDispatcher());

    private MockResponse ask(HttpMethod method, String path, String body) {
        return mock.dispatch(new RecordedRequest(
                "HTTP/1.1",
                method,
                path,
                Headers.builder().build(),
                new Buffer(body.getBytes(StandardCharsets.US_ASCII))));
    }

    /** As the connection to a client is: it sends when the event loop comes to it, and the loop runs the test's thread too. */
    private static final class Connection implements WebSocket {

        private final CountDownLatch loopIsFree = new CountDownLatch(1);
        private final CountDownLatch begun = new CountDownLatch(1);
        private final BlockingQueue<String> steps = new LinkedBlockingQueue<>();

        private boolean step(String what) {
            begun.countDown();
            try {
                loopIsFree.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return steps.add(what);
        }

        @Override
        public RecordedRequest request() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean send(String text) {
            return step(text);
        }

        @Override
        public boolean send(byte[] bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean close(int code, String reason) {
            return step("close " + code);
        }
    }

    @Test
    @Timeout(20)
    void aWatchThatIsClosedDoesNotWaitForItsEvents() throws Exception {
        MockResponse upgrade = ask(HttpMethod.GET, MAPS + "?watch=true", "");
        WebSocketListener watch = Objects.requireNonNull(upgrade.getWebSocketListener());
        var connection = new Connection();
        watch.onOpen(connection, upgrade);
        ask(HttpMethod.POST, MAPS, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"one\"}}");
        connection.begun.await();

        watch.onClosed(connection, 1000, "bye");

        connection.loopIsFree.countDown();
        assertThat(connection.steps.poll(10, TimeUnit.SECONDS)).contains("ADDED");
        assertThat(connection.steps.poll(10, TimeUnit.SECONDS)).isEqualTo("close 1000");
    }
}
