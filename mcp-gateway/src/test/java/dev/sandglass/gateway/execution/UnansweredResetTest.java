package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A reset whose answer is lost: what others ran in the fresh session is not. */
class UnansweredResetTest extends LiveSandbox {

    private static final Session.Name SESSION = new Session.Name("python", "default");
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void itIsNotDoneAgainWhenTheConnectionIsBack() {
        try (CutProxy proxy = new CutProxy(sandbox.port());
                Replica far = new Replica()) {
            RunningSandbox through = new RunningSandbox(
                    sandbox.ref(), sandbox.uid(), sandbox.incarnation(), sandbox.address(), proxy.port());
            far.run(through, "old = 1");
            proxy.withhold(true);
            CompletableFuture<Boolean> reset =
                    far.executions.sessions().reset(through, SESSION).toFuture();
            await().atMost(SOON).until(() -> "False"
                    .equals(two.run(sandbox, "'old' in globals()").result()));
            two.run(sandbox, "fresh = 1");

            proxy.withhold(false);
            proxy.cut();

            assertThatThrownBy(reset::join)
                    .hasCauseInstanceOf(SandboxProblem.Unreachable.class)
                    .hasMessageContaining("the connection broke meanwhile, and whether this was done is not known")
                    .cause()
                    .isInstanceOfSatisfying(SandboxProblem.class, problem -> assertThat(problem.next())
                            .isEqualTo(NextStep.Plain.LOOK_FIRST));
            assertThat(two.run(sandbox, "fresh").result()).isEqualTo("1");
        }
    }
}
