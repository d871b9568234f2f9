package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxEnd.ContainerEnded;
import dev.sandglass.gateway.sandbox.SandboxEnd.PodGone;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What ended all that ran in a sandbox, read from its resource. */
class SandboxEndsTest {

    private static final String PEAKED = "The container's memory use peaked at its limit of 512Mi.";
    private static final RunningSandbox BEFORE = before(0);

    private static RunningSandbox before(int restarts) {
        var ref = new SandboxRef("default", "sandglass-default", "box", "box");
        return new RunningSandbox(
                ref,
                "uid",
                1,
                "10.0.0.7",
                5710,
                List.of(),
                Reach.NOTHING,
                new Restarts(restarts, ""),
                Optional.empty());
    }

    private static Optional<SandboxEnd> end(Sandbox now, RunningSandbox before) {
        return new SandboxStateReader(DefaultDomains.NONE).end(Optional.of(now), before);
    }

    private static Sandbox down(Reason reason, @Nullable Integer restarts) {
        return sandbox(1, null, List.of(condition("Ready", "False", reason, PEAKED)), restarts, null);
    }

    private static Sandbox up(int incarnation, @Nullable Integer restarts, @Nullable Reason why) {
        Condition ready = condition("Ready", "True", restarts == null ? Reason.RUNNING : Reason.RESTARTED, "It runs.");
        return sandbox(incarnation, "10.0.0.7", List.of(ready), restarts, why);
    }

    private static Sandbox sandbox(
            int incarnation,
            @Nullable String address,
            List<Condition> conditions,
            @Nullable Integer restarts,
            @Nullable Reason why) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName("box")
                .withNamespace("sandglass-default")
                .withUid("uid")
                .build());
        resource.setSpec(SandboxSpec.DEFAULT);
        resource.setStatus(new SandboxStatus(
                1L,
                conditions,
                address,
                "pod",
                incarnation,
                null,
                null,
                null,
                restarts,
                why == null ? null : why.value(),
                null));
        return resource;
    }

    private static Condition condition(String type, String status, Reason reason, String message) {
        return new ConditionBuilder()
                .withType(type)
                .withStatus(status)
                .withReason(reason.value())
                .withMessage(message)
                .build();
    }

    @Test
    void aContainerThatIsDownHasEndedWithTheCause() {
        assertThat(end(down(Reason.OOM_KILLED, null), BEFORE))
                .contains(new ContainerEnded(
                        "The container's memory use peaked at its limit of 512Mi (OOMKilled)", true));
        assertThat(end(down(Reason.CRASHED, null), BEFORE)).hasValueSatisfying(crashed -> assertThat(crashed)
                .isInstanceOfSatisfying(ContainerEnded.class, end -> assertThat(end.outOfMemory())
                        .isFalse()));
    }

    @Test
    void aContainerThatWasStartedAgainSinceHasEnded() {
        assertThat(end(up(1, 1, Reason.OOM_KILLED), BEFORE)).contains(new ContainerEnded("It runs", true));
        assertThat(end(up(1, 3, Reason.CRASHED), before(2))).contains(new ContainerEnded("It runs", false));
    }

    @Test
    void whatWasKnownOfItBeforeIsNoEnd() {
        assertThat(end(up(1, null, null), BEFORE)).isEmpty();
        assertThat(end(up(1, 2, Reason.OOM_KILLED), before(2))).isEmpty();
        assertThat(end(down(Reason.OOM_KILLED, 1), before(2))).isEmpty();
        assertThat(end(down(Reason.STARTING, null), BEFORE)).isEmpty();
    }

    @Test
    void theNextEndOfAContainerIsOneToo() {
        assertThat(end(down(Reason.CRASHED, 2), before(2))).isPresent();
    }

    @Test
    void aPodThatIsAnotherOneOrNoneIsGone() {
        assertThat(end(up(2, null, null), BEFORE)).contains(new PodGone("its pod was replaced"));
        assertThat(end(down(Reason.IMAGE_UNUSABLE, null), BEFORE))
                .contains(new PodGone("The container's memory use peaked at its limit of 512Mi (ImageUnusable)"));
        Condition idle = condition("Suspended", "True", Reason.IDLE, "Nobody used it.");
        assertThat(end(sandbox(1, null, List.of(idle), null, null), BEFORE))
                .contains(new PodGone("the sandbox was suspended (Idle)"));
        Sandbox stopped = up(1, null, null);
        stopped.setSpec(SandboxSpec.DEFAULT.withSuspended(true));
        assertThat(end(stopped, BEFORE)).contains(new PodGone("the sandbox was stopped"));
        assertThat(new SandboxStateReader(DefaultDomains.NONE).end(Optional.empty(), BEFORE))
                .contains(new PodGone("the sandbox was deleted"));
    }

    @Test
    void theRestartsOfARunningOneAreKnown() {
        SandboxState state = new SandboxStateReader(DefaultDomains.NONE)
                .of("default", up(1, 2, Reason.CRASHED))
                .orElseThrow();

        assertThat(state).isInstanceOfSatisfying(SandboxState.Running.class, running -> assertThat(
                        running.sandbox().restarts())
                .isEqualTo(new Restarts(2, "It runs")));
    }
}
