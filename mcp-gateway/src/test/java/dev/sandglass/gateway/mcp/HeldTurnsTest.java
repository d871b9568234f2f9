package dev.sandglass.gateway.mcp;

import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that ask for files and do not read the answers, which this process would have to keep. */
@Tag("slow")
class HeldTurnsTest {

    /** As many as may read files of one sandbox at a time. */
    private static final int TURNS = 4;

    private static final String READ =
            TestGateway.toolCall("sandbox_read_file", "{\"sandbox\":\"box\",\"path\":\"big\",\"length\":1048576}");

    private final TestGateway gateway = TestGateway.start();
    private final List<RawClient> clients = new ArrayList<>();

    @AfterEach
    void close() {
        clients.forEach(RawClient::close);
        gateway.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/json", "text/event-stream"})
    void aTurnLastsUntilItsAnswerWasTaken(String accept) throws Exception {
        gateway.sandboxes.addRunning("box");
        gateway.supervisor.files.put("big", new byte[1 << 20]);
        for (int i = 0; i < TURNS; i++) {
            clients.add(RawClient.notReading(gateway, READ, accept));
        }
        await().until(() -> gateway.supervisor.files.asked.size() == TURNS);

        var next = new RawClient(gateway, READ, accept);
        clients.add(next);
        await().during(Duration.ofMillis(500))
                .atMost(Duration.ofSeconds(20))
                .until(() -> gateway.supervisor.files.asked.size() == TURNS);

        clients.getFirst().resume();
        await().until(() -> next.received().contains("\"result\""));
    }
}
