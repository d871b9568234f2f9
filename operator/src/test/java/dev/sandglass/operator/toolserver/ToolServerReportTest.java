package dev.sandglass.operator.toolserver;

import static dev.sandglass.api.toolserver.ToolServerCondition.ACCEPTED;
import static dev.sandglass.api.toolserver.ToolServerCondition.AVAILABLE;
import static dev.sandglass.api.toolserver.ToolServerCondition.READY;
import static dev.sandglass.api.toolserver.ToolServerCondition.VERIFIED;
import static dev.sandglass.operator.toolserver.Servers.child;
import static dev.sandglass.operator.toolserver.Servers.stdio;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ServerInfo;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.toolserver.ToolServerDecision.Refusal;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ToolServerReportTest {

    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00.5Z");
    private static final String HASH = "sha256:" + "0".repeat(64);
    private static final ServerHandshake DONE =
            new ServerHandshake("uid-time", 1, true, new ServerInfo("Time", "1.0", "2025-11-25"), 2, HASH);

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

    private static Sandbox noted(SandboxToolServer server, String note) {
        Sandbox child = child(server, Statuses.ready("True", Reason.RUNNING, "The sandbox runs"));
        child.getMetadata().setAnnotations(Map.of(SandboxLabels.MCP_HANDSHAKE, note));
        return child;
    }

    private static SandboxToolServerStatus with(SandboxToolServer server, String note) {
        return ToolServerReport.of(server, Optional.of(noted(server, note)), Optional.empty(), NOW);
    }

    @Test
    void aServerThatAnsweredAGatewayIsVerifiedAndTellsWhatItIs() {
        SandboxToolServerStatus status = with(stdio(), DONE.note());

        assertThat(said(status, VERIFIED)).isEqualTo("True Verified");
        assertThat(status.serverInfo()).isEqualTo(new ServerInfo("Time", "1.0", "2025-11-25"));
        assertThat(status.toolCount()).isEqualTo(2);
        assertThat(status.toolsHash()).isEqualTo(HASH);
        assertThat(said(status, READY)).as("nothing else follows from it").isEqualTo("True Running");
    }

    @Test
    void aServerThatDidNotAnswerIsNotVerifiedAndSaysNothing() {
        SandboxToolServerStatus status =
                with(stdio(), ServerHandshake.failed("uid-time", 1).note());

        assertThat(said(status, VERIFIED)).isEqualTo("False EndpointUnavailable");
        assertThat(status.serverInfo()).isNull();
        assertThat(status.toolCount()).isNull();
        assertThat(said(status, READY)).isEqualTo("True Running");
    }

    /** Without an annotation it is as for a gateway of an older release. */
    @Test
    void withoutANoteOfThisSpecItIsNotKnown() {
        SandboxToolServer edited = stdio();
        edited.getMetadata().setGeneration(2L);
        SandboxToolServer another = stdio();
        another.getMetadata().setUid("uid-of-the-next-one");

        for (SandboxToolServerStatus status : List.of(
                of(SandboxStatus.UNSEEN),
                with(edited, DONE.note()),
                with(another, DONE.note()),
                with(stdio(), "{"),
                with(stdio(), "x".repeat(300_000)),
                ToolServerReport.of(stdio(), Optional.empty(), Optional.empty(), NOW))) {
            assertThat(said(status, VERIFIED)).isEqualTo("Unknown NotVerified");
            assertThat(status.serverInfo()).isNull();
            assertThat(status.toolCount()).isNull();
            assertThat(status.toolsHash()).isNull();
        }
    }

    /** Anyone could have written a note where the chart's policies are off. */
    @Test
    void whatANoteSaysIsCleanedAndBoundAgain() {
        String hostile = DONE.note()
                .replace("Time", "a\\n\\u001b[2J\\u202e" + "x".repeat(2000))
                .replace(":2,", ":99999999,")
                .replace("sha256:", "sha1:");

        SandboxToolServerStatus status = with(stdio(), hostile);

        assertThat(requireNonNull(status.serverInfo()).name())
                .hasSize(ServerInfo.MAX_TEXT)
                .startsWith("a [2Jxx");
        assertThat(status.toolCount()).isEqualTo(ServerHandshake.MAX_TOOLS);
        assertThat(status.toolsHash()).isNull();
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

        server.setStatus(with(server, DONE.note()));
        assertThat(ToolServerReport.failed(server, "no answer", NOW)).isEqualTo(server.getStatus());

        server.getMetadata().setGeneration(2L);
        SandboxToolServerStatus edited = ToolServerReport.failed(server, "no answer", NOW);
        assertThat(said(edited, VERIFIED)).isEqualTo("True Verified");
        assertThat(edited.serverInfo()).isEqualTo(DONE.serverInfo());
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
