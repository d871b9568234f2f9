package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What {@code sandbox_stop} says of files, before and after (contracts.md M16, "After stop"). */
class StopContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SCRATCH | with its files.",
                "DELETED | its workspace too, with all files, unless an earlier sandbox of this name kept it.",
                "KEPT | its workspace is kept, and the next sandbox of this name that has one takes it again.",
            })
    void aDeletionSaysWhatBecomesOfTheFiles(WorkspaceEnd end, String words) throws Exception {
        gateway.sandboxes.deletionsMean(Deletion.of(end));

        JsonNode result = gateway.call("sandbox_stop", "{\"sandbox\":\"box\",\"delete\":true}");

        assertThat(TestGateway.text(result))
                .startsWith("Sandbox box stopped successfully. It is deleted")
                .endsWith(words);
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("deleted");
        assertThat(gateway.sandboxes.orders).containsExactly("delete box");
    }

    @Test
    void aDeletionThatIsHeldUpNamesWhatHoldsItAndNotAll() throws Exception {
        List<String> holders =
                IntStream.rangeClosed(1, 6).mapToObj(n -> "example.com/f" + n).toList();
        gateway.sandboxes.deletionsMean(new Deletion(WorkspaceEnd.SCRATCH, holders));

        JsonNode result = gateway.call("sandbox_stop", "{\"sandbox\":\"box\",\"delete\":true}");

        assertThat(TestGateway.text(result))
                .startsWith("Sandbox box stopped successfully. Its deletion is ordered, and its pod ends;")
                .endsWith(": example.com/f1, example.com/f2, example.com/f3, example.com/f4, example.com/f5.");
    }

    @Test
    void aStopLeavesTheFilesOutOfIt() throws Exception {
        JsonNode result = gateway.call("sandbox_stop", "{\"sandbox\":\"box\"}");

        assertThat(TestGateway.text(result)).isEqualTo("Sandbox box stopped successfully");
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("stopped");
        assertThat(gateway.sandboxes.orders).containsExactly("stop box");
    }

    @Test
    void theDescriptionSaysThatDeletingTakesThePersistentWorkspaceUnlessItIsKept() throws Exception {
        JsonNode tool = gateway.definition("sandbox_stop");

        assertThat(tool.path("description").asString())
                .contains("when you are finished")
                .contains("files unless it has a persistent workspace");
        assertThat(tool.at("/inputSchema/properties/delete/description").asString())
                .contains("all files", "a workspace with 'keep' stays");
    }
}
