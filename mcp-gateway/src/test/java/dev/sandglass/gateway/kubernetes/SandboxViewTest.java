package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a running sandbox's condition says of edits. */
class SandboxViewTest {

    private static final String MESSAGE = "The sandbox runs; the edited spec applies at its next start";

    private static Optional<String> awaited(Reason reason) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName("box")
                .withNamespace("sandglass-default")
                .withUid("uid")
                .build());
        resource.setSpec(SandboxSpec.DEFAULT);
        resource.setStatus(new SandboxStatus(
                1L,
                List.of(new ConditionBuilder()
                        .withType("Ready")
                        .withStatus("True")
                        .withReason(reason.value())
                        .withMessage(MESSAGE)
                        .build()),
                "10.0.0.7",
                "pod",
                1,
                null,
                null,
                null,
                null));
        SandboxState state = SandboxView.of("default", resource).orElseThrow();
        return state instanceof SandboxState.Running(RunningSandbox sandbox) ? sandbox.awaited() : Optional.empty();
    }

    @Test
    void editsThatWaitAreToldInTheOperatorsWords() {
        assertThat(awaited(Reason.UPDATE_PENDING)).contains(MESSAGE);
    }

    @Test
    void aSandboxThatIsAsItIsWantedAwaitsNothing() {
        assertThat(awaited(Reason.RUNNING)).isEmpty();
        assertThat(awaited(Reason.RESTARTED)).isEmpty();
    }
}
