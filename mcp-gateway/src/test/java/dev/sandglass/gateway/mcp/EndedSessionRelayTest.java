package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A session that one replica ended is none at the others. */
class EndedSessionRelayTest {

    private static final String PATH = "/mcp/ipython";
    private static final String CELL = "{'session':'s','code':'print 42'}";
    private static final String PEER = "127.0.0.1";

    @Test
    void theOtherReplicasAreToldOfTheEnd() throws Exception {
        try (TestGateway other = TestGateway.besides(1, PEER);
                TestGateway ends = TestGateway.besides(other.port(), PEER)) {
            EndpointClient client = EndpointClient.of(ends, PATH).initialized();
            EndpointClient elsewhere =
                    EndpointClient.of(other, PATH).withSession(client.session().orElseThrow());
            assertThat(elsewhere.answer("execute", CELL).statusCode()).isEqualTo(200);

            assertThat(client.delete().statusCode()).isEqualTo(204);

            assertThat(elsewhere.answer("execute", CELL).statusCode()).isEqualTo(404);
            assertThat(client.answer("execute", CELL).statusCode()).isEqualTo(404);
            // The first one has deleted it: the other only forgets it.
            assertThat(other.sandboxes.orders).noneMatch(order -> order.startsWith("delete"));
            assertThat(EndpointClient.of(other, PATH)
                            .initialized()
                            .answer("execute", CELL)
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void onlyAnotherReplicaMayHaveASessionForgotten() throws Exception {
        try (TestGateway gateway = TestGateway.besides(1, "127.0.0.3");
                HttpClient stranger = HttpClient.newBuilder()
                        .localAddress(InetAddress.getByName("127.0.0.2"))
                        .build();
                HttpClient replica = HttpClient.newBuilder()
                        .localAddress(InetAddress.getByName("127.0.0.3"))
                        .build()) {
            for (HttpClient sender : List.of(stranger, replica)) {
                EndpointClient client = EndpointClient.of(gateway, PATH).initialized();
                client.call("execute", CELL);
                HttpRequest end = HttpRequest.newBuilder(URI.create(gateway.base() + PATH))
                        .DELETE()
                        .header("Authorization", "Bearer " + TestGateway.KEY)
                        .header("Mcp-Session-Id", client.session().orElseThrow())
                        .header("Sandglass-Client-Address", "10.0.0.1")
                        .build();

                HttpResponse<String> answer = sender.send(end, HttpResponse.BodyHandlers.ofString());

                assertThat(answer.statusCode()).isEqualTo(204);
                assertThat(client.answer("execute", CELL).statusCode()).isEqualTo(404);
            }
            // Of the stranger it is a request like any other.
            assertThat(gateway.sandboxes.orders)
                    .filteredOn(order -> order.startsWith("delete"))
                    .hasSize(1);
        }
    }

    /** What is told once goes no further, and a session that is not the caller's is not told of. */
    @Test
    void theEndGoesOnOnceWithTheClientsOwnKey() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        DisposableServer other = HttpServer.create()
                .host(PEER)
                .port(0)
                .handle((request, response) -> {
                    told.add(request.method() + " " + request.uri() + " "
                            + request.requestHeaders().get("Authorization") + " "
                            + request.requestHeaders().get("Mcp-Session-Id") + " "
                            + request.requestHeaders().get("Sandglass-Client-Address"));
                    return response.status(204).send();
                })
                .bindNow();
        try (TestGateway ends = TestGateway.besides(other.port(), PEER)) {
            EndpointClient client =
                    EndpointClient.of(ends, PATH + "?structured=true").initialized();
            String id = client.session().orElseThrow();

            assertThat(client.withKey(TestGateway.OTHER_KEY).delete().statusCode())
                    .isEqualTo(404);
            assertThat(client.delete().statusCode()).isEqualTo(204);
            assertThat(client.delete().statusCode()).isEqualTo(404);

            assertThat(told).containsExactly("DELETE " + PATH + " Bearer " + TestGateway.KEY + " " + id + " " + PEER);
        } finally {
            other.disposeNow();
        }
    }

    /** Else the session would live on at the others. */
    @Test
    void aClientThatSaysItIsAReplicaIsNotBelieved() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        DisposableServer other = HttpServer.create()
                .host(PEER)
                .port(0)
                .handle((request, response) -> {
                    told.add(request.method() + " " + request.requestHeaders().get("Sandglass-Client-Address"));
                    return response.status(204).send();
                })
                .bindNow();
        try (TestGateway ends = TestGateway.besides(other.port(), PEER);
                HttpClient stranger = HttpClient.newBuilder()
                        .localAddress(InetAddress.getByName("127.0.0.2"))
                        .build()) {
            EndpointClient client = EndpointClient.of(ends, PATH).initialized();
            HttpRequest end = HttpRequest.newBuilder(URI.create(ends.base() + PATH))
                    .DELETE()
                    .header("Authorization", "Bearer " + TestGateway.KEY)
                    .header("Mcp-Session-Id", client.session().orElseThrow())
                    .header("Sandglass-Client-Address", "10.0.0.1")
                    .build();

            stranger.send(end, HttpResponse.BodyHandlers.ofString());

            assertThat(told).containsExactly("DELETE 127.0.0.2");
        } finally {
            other.disposeNow();
        }
    }

    @Test
    void aReplicaThatIsGoneHoldsUpNoEnd() throws Exception {
        try (TestGateway ends = TestGateway.besides(1, PEER)) {
            assertThat(EndpointClient.of(ends, PATH).initialized().delete().statusCode())
                    .isEqualTo(204);
        }
    }
}
