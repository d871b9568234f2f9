package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many may use ports at a time. */
class ConnectionQuotaTest {

    private final PortGateway gateway = new PortGateway();
    private final CountDownLatch leave = new CountDownLatch(1);

    @AfterEach
    void stop() {
        gateway.close();
    }

    /** A server that answers nobody before all may leave. */
    private Upstream waiting() {
        return new Upstream((connection, head) -> {
            leave.await();
            connection
                    .getOutputStream()
                    .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        });
    }

    private CompletableFuture<HttpResponse<String>> hold(String tenant, String key, String name, Upstream server) {
        gateway.sandbox(tenant, name, "uid-of-" + name, server.port());
        var request = gateway.anonymous("/sandboxes/%s/%s/ports/%d/".formatted(tenant, name, server.port()))
                .header("Authorization", "Bearer " + key);
        return gateway.http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void thoseOfASandbox() throws Exception {
        try (Upstream upstream = waiting()) {
            gateway.box("uid-1", upstream.port());
            String path = PortGateway.path(upstream.port(), "/");
            var open = IntStream.range(0, PortGateway.MOST)
                    .mapToObj(_ ->
                            gateway.http.sendAsync(gateway.request(path).build(), HttpResponse.BodyHandlers.ofString()))
                    .toList();
            await().until(() -> upstream.connections.get() == PortGateway.MOST);

            HttpResponse<String> oneMore = gateway.send(gateway.request(path));

            assertThat(oneMore.statusCode()).isEqualTo(503);
            assertThat(PortGateway.error(oneMore)).contains("4 open connections");
            leave.countDown();
            for (var each : open) {
                assertThat(each.get().statusCode()).isEqualTo(200);
            }
            await().until(() -> gateway.send(gateway.request(path)).statusCode() == 200);
        }
    }

    @Test
    void thoseOfATenantWhateverTheNumberOfItsSandboxes() throws Exception {
        try (Upstream upstream = waiting()) {
            for (int i = 0; i < PortGateway.MOST_OF_TENANT; i++) {
                var _ = hold("default", PortGateway.ALICE, "box-" + i, upstream);
            }
            await().until(() -> upstream.connections.get() == PortGateway.MOST_OF_TENANT);

            HttpResponse<String> oneMore =
                    hold("default", PortGateway.ALICE, "late", upstream).get();
            assertThat(oneMore.statusCode()).isEqualTo(503);
            assertThat(PortGateway.error(oneMore)).contains("this tenant have, on this replica, 6 open connections");

            leave.countDown();
            assertThat(hold("other", PortGateway.BOB, "box", upstream).get().statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void thoseOfAll() throws Exception {
        try (Upstream upstream = waiting()) {
            for (int i = 0; i < PortGateway.MOST_OF_TENANT; i++) {
                var _ = hold("default", PortGateway.ALICE, "box-" + i, upstream);
            }
            var _ = hold("other", PortGateway.BOB, "one", upstream);
            var _ = hold("other", PortGateway.BOB, "two", upstream);
            await().until(() -> upstream.connections.get() == PortGateway.MOST_OF_TENANT + 2);

            assertThat(PortGateway.error(
                            hold("other", PortGateway.BOB, "three", upstream).get()))
                    .contains("All sandboxes have, on this replica, 8 open connections");
        }
    }
}
