package dev.sandglass.operator.lifecycle;

import static dev.sandglass.operator.Statuses.ready;
import static dev.sandglass.operator.Statuses.suspended;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    @Test
    void aNoteIsCutWhereTheApiServerWouldRefuseIt() {
        String fits = "x".repeat(Notice.MAX_NOTE);

        assertThat(Notice.of(STARTING, ready("False", Reason.POD_REFUSED, fits)))
                .hasValueSatisfying(notice -> assertThat(notice.note()).isEqualTo(fits));
        assertThat(Notice.of(STARTING, ready("False", Reason.POD_REFUSED, fits + "y")))
                .hasValueSatisfying(
                        notice -> assertThat(notice.note()).hasSize(1024).endsWith("x…"));
    }
}
