package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** {@code sandbox_start} with changes that a running sandbox cannot take. */
class StartAwaitedContractTest {

    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode startAnswers(Optional<String> awaited) throws Exception {
        gateway.sandboxes.startsAnswer(Mono.just(new RunningSandbox(
                REF,
                "uid-box",
                1,
                "127.0.0.1",
                5710,
                List.of(new SandboxPort("web", 8000)),
                Reach.NOTHING,
                Restarts.NONE,
                awaited)));
        JsonNode result = gateway.call("sandbox_start", "{\"sandbox\":\"box\",\"config\":{\"memory\":1024}}");
        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("running");
        return result;
    }

    @Test
    void whatWaitsForTheNextStartIsToldBehindTheContractsLineWithWhatAppliesIt() throws Exception {
        JsonNode result = startAnswers(Optional.of("The sandbox runs; the edited spec applies at its next start"));
        JsonNode facts = result.path("structuredContent");

        assertThat(result.path("content").size()).isOne();
        assertThat(TestGateway.text(result))
                .startsWith("Sandbox box started successfully\n")
                .endsWith("\nNot everything that was asked for is in force (UpdatePending: The sandbox runs; the edited"
                        + " spec applies at its next start). To apply it now, call sandbox_stop and then"
                        + " sandbox_start; variables are lost with that, and files outside a persistent workspace.");
        assertThat(facts.path("message").asString()).isEqualTo(TestGateway.text(result));
        assertThat(facts.path("warning").asString()).startsWith("Not everything that was asked for is in force");
    }

    @Test
    void aSandboxThatIsAsItIsWantedSaysNothingOfIt() throws Exception {
        JsonNode facts = startAnswers(Optional.empty()).path("structuredContent");
        assertThat(facts.path("warning").isNull()).isTrue();
        assertThat(facts.path("message").asString()).startsWith("Sandbox box started successfully\nPort 8000: ");
    }
}
