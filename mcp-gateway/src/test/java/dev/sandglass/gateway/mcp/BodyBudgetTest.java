package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Bodies that are begun and never ended, against the memory of a replica that all callers share. */
class BodyBudgetTest {

    private static final int BODY = 10_000;
    private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

    private final TestGateway gateway =
            TestGateway.start(new McpSettings(2 * BODY, 3 * BODY, 5 * BODY, Duration.ofSeconds(10)));
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        gateway.close();
    }

    private RawClient half(String key) throws Exception {
        var client = RawClient.begun(gateway, key, 2 * BODY, " ".repeat(BODY));
        open.add(client);
        return client;
    }

    @Test
    void halfBodiesOfOneCallerTakeNoMoreThanItsShareAndOthersGoOn() throws Exception {
        for (int i = 0; i < 3; i++) {
            half(TestGateway.KEY);
        }
        await().until(() -> gateway.bodyBytes() == 3 * BODY);

        HttpResponse<String> refused = gateway.send(gateway.post(LIST));
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).contains("2");
        assertThat(gateway.json(refused).path("error").path("message").asString())
                .isEqualTo("Too much at once: requests of this API key hold 30000 bytes on this replica, the most; wait"
                        + " until some are answered and try again, and write large files in parts");

        HttpResponse<String> other =
                gateway.send(gateway.post(LIST).setHeader("Authorization", "Bearer " + TestGateway.OTHER_KEY));
        assertThat(other.statusCode()).isEqualTo(200);
    }

    @Test
    void halfBodiesOfAllTakeNoMoreThanTheReplicasShare() throws Exception {
        for (int i = 0; i < 3; i++) {
            half(TestGateway.KEY);
        }
        half(TestGateway.OTHER_KEY);
        half(TestGateway.OTHER_KEY);
        await().until(() -> gateway.bodyBytes() == 5 * BODY);

        HttpResponse<String> refused =
                gateway.send(gateway.post(LIST).setHeader("Authorization", "Bearer " + TestGateway.OTHER_KEY));

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("the requests of all callers hold 50000 bytes");
    }

    /** Whoever has no key takes nothing, and hears so before anything is read. */
    @Test
    void noByteIsTakenForAStranger() throws Exception {
        RawClient stranger = half("wrong");

        await().until(() -> stranger.received().startsWith("HTTP/1.1 401"));
        assertThat(gateway.bodyBytes()).isZero();
    }

    /** A length alone takes nothing: it costs its sender nothing either. */
    @Test
    void whatIsOnlyDeclaredIsNotTaken() throws Exception {
        for (int i = 0; i < 6; i++) {
            open.add(RawClient.begun(gateway, TestGateway.KEY, 2 * BODY, " "));
        }
        await().until(() -> gateway.bodyBytes() == 6);

        assertThat(gateway.send(gateway.post(LIST)).statusCode()).isEqualTo(200);
    }

    @Test
    void aBodyIsHeldUntilItsAnswerIsMadeAndThenGivenBack() throws Exception {
        gateway.sandboxes.addRunning("box");
        String hang = TestGateway.toolCall("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"hang\"}");
        var plain = new RawClient(gateway, hang, "application/json");
        open.add(plain);
        var stream = new RawClient(gateway, hang, "text/event-stream");
        open.add(stream);
        // The message itself, its five fields and those of two objects more, and a request.
        long bytes = hang.length() + 9L * 128 + McpEndpoint.BYTES_OF_A_REQUEST;
        await().until(() -> gateway.bodyBytes() == 2 * bytes);
        await().until(() -> gateway.supervisor.verbs.size() == 2);
        assertThat(gateway.bodyBytes()).isEqualTo(2 * bytes);

        plain.close();
        await().until(() -> gateway.bodyBytes() == bytes);
        stream.close();
        await().until(() -> gateway.bodyBytes() == 0);
    }

    @Test
    void aCallersCallsThatWaitLeaveRoomForOthers() throws Exception {
        gateway.sandboxes.addRunning("box");
        String hang = TestGateway.toolCall("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"hang\"}");
        for (int i = 0; i < 2; i++) {
            open.add(new RawClient(gateway, hang, "application/json"));
        }
        await().until(() -> gateway.supervisor.verbs.size() == 2);

        HttpResponse<String> third = gateway.send(gateway.post(hang));
        assertThat(third.statusCode()).isEqualTo(503);
        assertThat(third.body()).contains("requests of this API key hold 30000 bytes");
        assertThat(gateway.send(gateway.post(LIST).setHeader("Authorization", "Bearer " + TestGateway.OTHER_KEY))
                        .statusCode())
                .isEqualTo(200);
        String cancellation =
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}";
        assertThat(gateway.send(gateway.post(cancellation)).statusCode()).isEqualTo(202);
    }

    @Test
    void whateverTheAnswerNothingIsKept() throws Exception {
        for (String body :
                List.of(LIST, "no json", "[]", "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", " ".repeat(3 * BODY))) {
            gateway.send(gateway.post(body));
            await().until(() -> gateway.bodyBytes() == 0);
        }
        RawClient gone = half(TestGateway.KEY);
        await().until(() -> gateway.bodyBytes() == BODY);
        gone.close();
        await().until(() -> gateway.bodyBytes() == 0);
    }
}
