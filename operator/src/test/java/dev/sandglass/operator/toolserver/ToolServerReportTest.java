package dev.sandglass.operator.toolserver;

import static dev.sandglass.api.toolserver.ToolServerCondition.ACCEPTED;
import static dev.sandglass.api.toolserver.ToolServerCondition.AVAILABLE;
import static dev.sandglass.api.toolserver.ToolServerCondition.READY;
import static dev.sandglass.operator.toolserver.Servers.child;
import static dev.sandglass.operator.toolserver.Servers.stdio;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.toolserver.ToolServerDecision.Refusal;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ToolServerReportTest {

    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00.5Z");

    private static SandboxToolServerStatus of(SandboxStatus ofChild) {
        SandboxToolServer server = stdio();
        return ToolServerReport.of(server, Optional.of(child(server, ofChild)), Optional.empty(), NOW);
    }

    private static String said(SandboxToolServerStatus status, ToolServerCondition type) {
        Condition condition = status.condition(type).orElseThrow();
        return condition.getStatus() + " " + condition.getReason();
    }

    @Test
    void aServerWhosePodRunsIsAvailableAndReady() {
        SandboxToolServerStatus status = of(Statuses.ready("True", Reason.RUNNING, "The sandbox runs"));

        assertThat(said(status, ACCEPTED)).isEqualTo("True SandboxMade");
        assertThat(said(status, AVAILABLE)).isEqualTo("True Running");
        assertThat(said(status, READY)).isEqualTo("True Running");
        assertThat(status.sandboxName()).isEqualTo("time-mcp");
        assertThat(status.observedGeneration()).isEqualTo(1);
        assertThat(status.condition(READY).orElseThrow().getLastTransitionTime())
                .isEqualTo("2026-03-01T10:00:00Z");
    }

    @ParameterizedTest
    @EnumSource(names = {"IDLE", "MAX_LIFETIME"})
    void aServerThatSleepsIsReadySinceACallStartsIt(Reason cause) {
        SandboxToolServerStatus status = of(Statuses.suspended(cause));

        assertThat(said(status, ACCEPTED)).isEqualTo("True SandboxMade");
        assertThat(said(status, AVAILABLE)).isEqualTo("False " + cause.value());
        assertThat(said(status, READY)).isEqualTo("True " + cause.value());
        assertThat(status.condition(READY).orElseThrow().getMessage()).endsWith("the next call starts it");
    }

    @ParameterizedTest
    @EnumSource(
            names = {"STARTING", "IMAGE_PULL_FAILED", "QUOTA_EXCEEDED", "OOM_KILLED", "UNSCHEDULABLE", "VOLUME_MISSING"
            })
    void whatIsWrongWithThePodIsToldInItsWords(Reason trouble) {
        SandboxToolServerStatus status = of(Statuses.ready("False", trouble, "what happened"));

        assertThat(said(status, ACCEPTED)).isEqualTo("True SandboxMade");
        assertThat(said(status, AVAILABLE)).isEqualTo("False " + trouble.value());
        assertThat(said(status, READY)).isEqualTo("False " + trouble.value());
        assertThat(status.condition(READY).orElseThrow().getMessage()).isEqualTo("what happened");
    }

    @Test
    void aSandboxThatSomeoneSuspendedIsNotReady() {
        assertThat(said(of(Statuses.suspended(Reason.REQUESTED)), READY)).isEqualTo("False Requested");
    }

    @Test
    void aNewSandboxIsStartingAndOneThatGoesToo() {
        assertThat(said(of(SandboxStatus.UNSEEN), READY)).isEqualTo("False Starting");
        Sandbox leaving = child(stdio(), Statuses.suspended(Reason.IDLE));
        leaving.getMetadata().setDeletionTimestamp("2026-03-01T10:00:00Z");

        SandboxToolServerStatus status = ToolServerReport.of(stdio(), Optional.of(leaving), Optional.empty(), NOW);

        assertThat(said(status, READY)).isEqualTo("False Starting");
    }

    @Test
    void aSpecThatIsNotInForceIsNotReadyWhateverItsFormerPodDoes() {
        Refusal refusal = new Refusal(ToolServerReason.SANDBOX_REFUSED, "not allowed");
        Sandbox former = child(stdio(), Statuses.ready("True", Reason.RUNNING, "The sandbox runs"));

        SandboxToolServerStatus without = ToolServerReport.of(stdio(), Optional.empty(), Optional.of(refusal), NOW);
        SandboxToolServerStatus with = ToolServerReport.of(stdio(), Optional.of(former), Optional.of(refusal), NOW);

        assertThat(said(without, ACCEPTED)).isEqualTo("False SandboxRefused");
        assertThat(said(without, AVAILABLE)).isEqualTo("False SandboxRefused");
        assertThat(said(without, READY)).isEqualTo("False SandboxRefused");
        assertThat(without.sandboxName()).isNull();
        assertThat(said(with, ACCEPTED)).isEqualTo("False SandboxRefused");
        assertThat(said(with, AVAILABLE)).isEqualTo("True Running");
        assertThat(said(with, READY)).isEqualTo("False SandboxRefused");
        assertThat(with.sandboxName()).isEqualTo("time-mcp");
    }

    @Test
    void theSameAgainIsEqualAndATransitionTimeStaysWithItsStatus() {
        SandboxToolServer server = stdio();
        Sandbox running = child(server, Statuses.ready("True", Reason.RUNNING, "The sandbox runs"));
        server.setStatus(ToolServerReport.of(server, Optional.of(running), Optional.empty(), NOW));
        Sandbox asleep = child(server, Statuses.suspended(Reason.IDLE));
        Instant later = NOW.plusSeconds(60);

        assertThat(ToolServerReport.of(server, Optional.of(running), Optional.empty(), later))
                .isEqualTo(server.getStatus());
        SandboxToolServerStatus after = ToolServerReport.of(server, Optional.of(asleep), Optional.empty(), later);
        assertThat(after.condition(READY).orElseThrow().getLastTransitionTime()).isEqualTo("2026-03-01T10:00:00Z");
        assertThat(after.condition(AVAILABLE).orElseThrow().getLastTransitionTime())
                .isEqualTo("2026-03-01T10:01:00Z");
    }

    @Test
    void aMessageOfAnyLengthFitsTheSchema() {
        SandboxToolServerStatus status = of(Statuses.ready("False", Reason.POD_REFUSED, "x\n".repeat(40_000)));

        assertThat(status.condition(READY).orElseThrow().getMessage())
                .hasSizeLessThanOrEqualTo(ConditionType.MAX_MESSAGE)
                .doesNotContain("\n");
    }

    @Test
    void afterAFailureWhatIsKnownStaysAndWhatIsNotIsUnknown() {
        SandboxToolServer server = stdio();
        assertThat(said(ToolServerReport.failed(server, "no answer", NOW), ACCEPTED))
                .isEqualTo("Unknown OperatorError");
        assertThat(said(ToolServerReport.failed(server, "no answer", NOW), READY))
                .isEqualTo("Unknown OperatorError");

        server.setStatus(of(Statuses.ready("True", Reason.RUNNING, "The sandbox runs")));
        assertThat(ToolServerReport.failed(server, "no answer", NOW)).isEqualTo(server.getStatus());

        server.getMetadata().setGeneration(2L);
        SandboxToolServerStatus edited = ToolServerReport.failed(server, "no answer", NOW);
        assertThat(said(edited, ACCEPTED)).isEqualTo("Unknown OperatorError");
        assertThat(said(edited, READY)).isEqualTo("True Running");
        assertThat(edited.observedGeneration()).isEqualTo(1);
    }

    @Test
    void anEventTellsThatASpecIsNotInForceAndThatItIsAgain() {
        SandboxToolServer server = stdio();
        SandboxToolServerStatus made = of(SandboxStatus.UNSEEN);
        SandboxToolServerStatus taken = ToolServerReport.of(
                server, Optional.empty(), Optional.of(new Refusal(ToolServerReason.NAME_TAKEN, "y".repeat(3000))), NOW);

        assertThat(ToolServerReport.notice(SandboxToolServerStatus.UNSEEN, made))
                .hasValueSatisfying(notice -> {
                    assertThat(notice.warning()).isFalse();
                    assertThat(notice.reason()).isEqualTo("SandboxMade");
                });
        assertThat(ToolServerReport.notice(made, taken)).hasValueSatisfying(notice -> {
            assertThat(notice.warning()).isTrue();
            assertThat(notice.reason()).isEqualTo("NameTaken");
            assertThat(notice.note()).hasSizeLessThanOrEqualTo(1024);
        });
        assertThat(ToolServerReport.notice(taken, taken)).isEmpty();
        assertThat(ToolServerReport.notice(
                        made, of(Statuses.ready("False", Reason.OOM_KILLED, "the Sandbox tells it"))))
                .isEmpty();
    }
}
