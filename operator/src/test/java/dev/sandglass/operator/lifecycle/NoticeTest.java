package dev.sandglass.operator.lifecycle;

import static dev.sandglass.operator.cluster.Statuses.ready;
import static dev.sandglass.operator.cluster.Statuses.suspended;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NoticeTest {

    private static final SandboxStatus STARTING = ready("False", Reason.STARTING, "on the way");
    private static final SandboxStatus RUNNING = ready("True", Reason.RUNNING, "The sandbox runs");

    @Test
    void theNormalWayOfAColdStartIsNotWorthAWrite() {
        assertThat(Notice.of(SandboxStatus.UNSEEN, STARTING)).isEmpty();
        assertThat(Notice.of(STARTING, RUNNING)).isEmpty();
        assertThat(Notice.of(SandboxStatus.UNSEEN, RUNNING)).isEmpty();
        assertThat(Notice.of(RUNNING, RUNNING)).isEmpty();
    }

    private static SandboxStatus seated(int incarnation, @Nullable String lost) {
        return new SandboxStatus(
                1L,
                RUNNING.conditions(),
                null,
                null,
                incarnation,
                null,
                null,
                null,
                null,
                null,
                lost,
                "seat-" + incarnation,
                "Warm: pool default");
    }

    /** No status comes between that says that the former pod is gone. */
    @Test
    void aSeatThatFollowsAnotherPodIsToldAsAColdStartWouldBe() {
        assertThat(Notice.of(SandboxStatus.UNSEEN, seated(1, null))).isEmpty();
        assertThat(Notice.of(seated(1, null), seated(1, null))).isEmpty();
        assertThat(Notice.of(seated(1, null), seated(2, "Evicted"))).hasValueSatisfying(notice -> {
            assertThat(notice.reason()).isEqualTo("Evicted");
            assertThat(notice.warning()).isTrue();
        });
        assertThat(Notice.of(seated(1, null), seated(2, "Deleted"))).isEmpty();
        SandboxStatus asleep = new SandboxStatus(
                1L, suspended(Reason.IDLE).conditions(), null, null, 1, null, null, null, null, null, null);
        assertThat(Notice.of(asleep, seated(2, "Idle"))).hasValueSatisfying(notice -> {
            assertThat(notice.reason()).isEqualTo("Resumed");
            assertThat(notice.warning()).isFalse();
        });
    }

    @ParameterizedTest
    @EnumSource
    void everyOtherChangeOfTheCauseIsToldInTheConditionsWords(Reason reason) {
        if (EnumSet.of(Reason.STARTING, Reason.RUNNING).contains(reason)) {
            return;
        }
        assertThat(Notice.of(STARTING, ready("False", reason, "what happened"))).hasValueSatisfying(notice -> {
            assertThat(notice.reason()).isEqualTo(reason.value());
            assertThat(notice.note()).isEqualTo("what happened");
        });
    }

    @Test
    void whatSomebodyMayHaveToActOnIsAWarning() {
        assertThat(Notice.of(STARTING, ready("False", Reason.QUOTA_EXCEEDED, "full")))
                .hasValueSatisfying(notice -> assertThat(notice.warning()).isTrue());
        assertThat(Notice.of(RUNNING, suspended(Reason.IDLE)))
                .hasValueSatisfying(notice -> assertThat(notice.warning()).isFalse());
    }

    @Test
    void theEndOfATroubleAndAResumeAreTold() {
        assertThat(Notice.of(ready("False", Reason.UNSCHEDULABLE, "no room"), RUNNING))
                .hasValueSatisfying(notice -> assertThat(notice.reason()).isEqualTo("Running"));
        assertThat(Notice.of(suspended(Reason.IDLE), STARTING))
                .hasValueSatisfying(notice -> assertThat(notice.reason()).isEqualTo("Resumed"));
    }

    /** Most troubles end with a pod that is made, or gets its node, and not at once with one that runs. */
    @ParameterizedTest
    @EnumSource(names = {"QUOTA_EXCEEDED", "VOLUME_MISSING", "UNSCHEDULABLE", "IMAGE_PULL_FAILED", "OPERATOR_ERROR"})
    void aTroubleThatIsOverIsToldWhenTheStartGoesOn(Reason trouble) {
        assertThat(Notice.of(ready("False", trouble, "what happened"), STARTING))
                .hasValueSatisfying(notice -> {
                    assertThat(notice.warning()).isFalse();
                    assertThat(notice.reason()).isEqualTo("Starting");
                    assertThat(notice.note())
                            .isEqualTo(STARTING.condition(ConditionType.READY)
                                    .orElseThrow()
                                    .getMessage());
                });
    }

    @Test
    void aPodThatFollowsOneThatRanIsTheNormalWay() {
        assertThat(Notice.of(RUNNING, STARTING)).isEmpty();
        assertThat(Notice.of(ready("True", Reason.RESTARTED, "The sandbox runs"), STARTING))
                .isEmpty();
    }

    /** Each line: a character of 1 to 4 bytes, how many fit, how many are left beside the ellipsis of 3 bytes. */
    @ParameterizedTest
    @CsvSource({"x, 1024, 1021", "é, 512, 510", "箱, 341, 340", "🐍, 256, 255"})
    void aNoteIsCutWhereTheApiServerWouldRefuseItWhichCountsBytes(String character, int fits, int left) {
        assertThat(noteOf(character.repeat(fits))).isEqualTo(character.repeat(fits));
        assertThat(noteOf(character.repeat(fits + 1))).isEqualTo(character.repeat(left) + "…");
        assertThat(noteOf(character.repeat(3000))).isEqualTo(character.repeat(left) + "…");
    }

    /** Whatever stands before it, so that the cut falls on each of its bytes once. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void noCharacterIsCutApart(int before) {
        String note = noteOf("x".repeat(before) + "🐍".repeat(300));

        assertThat(note.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(1024);
        assertThat(note).matches("x*(🐍)+…");
    }

    @Test
    void halfACharacterInAMessageIsNoReasonToFail() {
        assertThat(noteOf("\ud83d".repeat(1025))).endsWith("…").hasSize(1022);
    }

    private static String noteOf(String message) {
        return Notice.of(STARTING, ready("False", Reason.POD_REFUSED, message))
                .orElseThrow()
                .note();
    }
}
