package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Clients that ask for what executions drew and do not read the answers, which this process would have to keep. */
class HeldAnswersTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int CLIENTS = 20;
    private static final int PICTURE = 6 << 20;
    private static final int BASE64 = 8 << 20;

    private final TestGateway gateway = TestGateway.start();
    private final List<RawClient> clients = new ArrayList<>();
    private String read = "";

    @BeforeEach
    void run() throws Exception {
        gateway.sandboxes.addRunning("box");
        gateway.sandboxes.addRunningOfOther("box");
        read = readOf(TestGateway.KEY);
        gateway.supervisor.draw(PICTURE);
    }

    @AfterEach
    void close() {
        clients.forEach(RawClient::close);
        gateway.close();
    }

    private String readOf(String key) throws Exception {
        JsonNode ran = gateway.call(key, "sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"print hello\"}");
        return "{\"execution_id\":%s}".formatted(ran.path("structuredContent").path("execution_id"));
    }

    private JsonNode reads(String key, String arguments) throws Exception {
        return gateway.call(key, "sandbox_get_execution", arguments);
    }

    private void asksAndDoesNotRead(String accept) throws IOException {
        String call = TestGateway.toolCall("sandbox_get_execution", read);
        clients.add(RawClient.notReading(gateway, call, accept));
    }

    private static int pictureOf(JsonNode result) {
        return result.path("content")
                .valueStream()
                .mapToInt(part -> part.path("data").asString("").length())
                .sum();
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"application/json", "text/event-stream"})
    void answersThatNobodyReadsAreBoundedAndOtherTenantsAnswered(String accept) throws Exception {
        String other = readOf(TestGateway.OTHER_KEY);
        for (int i = 0; i < CLIENTS; i++) {
            asksAndDoesNotRead(accept);
        }
        // Two of them have all that a tenant has.
        await().atMost(SOON).until(() -> gateway.answerBytes() > BASE64);
        await().during(Duration.ofMillis(500))
                .atMost(Duration.ofSeconds(30))
                .until(() -> gateway.answerBytes() <= 2L * BASE64);

        JsonNode refused = reads(TestGateway.KEY, read);
        assertThat(refused.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(refused))
                .contains("Rejected: ", "this tenant", "Nothing is lost: read from offset 0 again in a moment");
        assertThat(pictureOf(reads(TestGateway.OTHER_KEY, other))).isEqualTo(BASE64);

        clients.forEach(RawClient::resume);
        await().atMost(SOON).until(() -> gateway.answerBytes() == 0);
        assertThat(pictureOf(reads(TestGateway.KEY, read))).isEqualTo(BASE64);
    }

    /** The answer is held once; what the system does not take is no second copy of it. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"application/json", "text/event-stream"})
    void whatNobodyReadsIsNotCopiedForTheSystem(String accept) throws Exception {
        long before = directMemory();
        for (int i = 0; i < CLIENTS; i++) {
            asksAndDoesNotRead(accept);
        }
        await().atMost(SOON).until(() -> gateway.answerBytes() > BASE64);
        await().during(Duration.ofMillis(500))
                .atMost(Duration.ofSeconds(30))
                .until(() -> directMemory() - before <= BASE64);
        // Nothing is lost of one that reads on.
        clients.forEach(RawClient::resume);
        await().atMost(SOON).until(() -> gateway.answerBytes() == 0);
    }

    private static long directMemory() {
        return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
                .metric()
                .usedDirectMemory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/json", "text/event-stream"})
    void whoGoesAwayLeavesNothing(String accept) throws Exception {
        for (int i = 0; i < 3; i++) {
            asksAndDoesNotRead(accept);
        }
        await().atMost(SOON).until(() -> gateway.answerBytes() > BASE64);
        clients.forEach(RawClient::close);
        await().atMost(SOON).until(() -> gateway.answerBytes() == 0);
    }

    @Test
    void callsThatWaitWithWhatCameAreBoundedToo() throws Exception {
        gateway.supervisor.drawForever();
        read = read.replace("}", ",\"wait\":600}");
        for (int i = 0; i < 2; i++) {
            clients.add(
                    new RawClient(gateway, TestGateway.toolCall("sandbox_get_execution", read), "application/json"));
        }
        await().atMost(SOON).until(() -> gateway.answerBytes() > BASE64);

        // Whoever finds no room does not wait for it.
        assertThat(TestGateway.text(reads(TestGateway.KEY, read))).contains("Rejected: ", "this tenant");
        assertThat(clients).allMatch(client -> client.received().isEmpty());

        clients.forEach(RawClient::close);
        await().atMost(SOON).until(() -> gateway.answerBytes() == 0);
    }
}
