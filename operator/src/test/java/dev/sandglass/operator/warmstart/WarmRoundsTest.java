package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.mockwebserver.dsl.TimesOnceableOrHttpHeaderable;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Starts of sandboxes where there is a pool. */
class WarmRoundsTest extends WarmRounds {

    @Test
    void aNewSandboxClaimsASeatInItsFirstRoundWithTwoWrites() throws Exception {
        seat(pool(), A);
        start();
        requests();

        create("demo");

        SandboxStatus status = ready("demo").observed();
        assertThat(status.seat()).isEqualTo(A);
        assertThat(status.podName()).isEqualTo("sbx-" + A + "-0");
        assertThat(status.start()).isEqualTo("Warm: pool default");
        assertThat(status.incarnation()).isEqualTo(1);
        assertThat(status.address()).isEqualTo("10.1.2.3");
        assertThat(status.reason(ConditionType.READY)).contains(Reason.RUNNING);
        assertThat(podNames()).containsExactly("sbx-" + A + "-0");
        assertThat(writes(ofTheOperator()))
                .containsExactly("PATCH " + PODS + "/sbx-" + A + "-0", "PUT " + SANDBOXES + "/demo/status");
        assertThat(meter("hit", "Claimed")).isEqualTo(1);
    }

    @Test
    void whereThereIsNoPoolAColdStartAsksForNoMoreThanBefore() throws Exception {
        start();
        requests();

        create("demo");
        await().atMost(SOON).until(() -> !pods().isEmpty());

        List<String> asked = ofTheOperator();
        // A start that takes two seconds is told once, and this test may take that long.
        String told = "PUT " + SANDBOXES + "/demo/status";
        assertThat(Collections.frequency(asked, told)).isLessThanOrEqualTo(1);
        assertThat(asked.stream().filter(request -> !request.equals("GET " + PODS) && !request.equals(told)))
                .containsExactly("POST /api/v1/namespaces/tenant-a/secrets", "POST " + PODS);
        assertThat(pods().getFirst().getMetadata().getAnnotations()).doesNotContainKey(SandboxLabels.COLD_START);
        rounds.run();
        assertThat(ready("demo").observed().start()).isNull();
        assertThat(meter("miss", "NoSeat")).isZero();
    }

    @Tag("slow")
    @Test
    void twoSandboxesAndOneSeat() {
        seat(pool(), A);
        start();

        create("one");
        ready("one");
        create("two");

        await().atMost(SOON).until(() -> pods().size() == 2);
        Pod cold = pods().stream()
                .filter(pod -> !pod.getMetadata().getName().equals("sbx-" + A + "-0"))
                .findFirst()
                .orElseThrow();
        assertThat(SandboxPod.whyCold(cold)).contains("NoSeat");
        await().atMost(SOON).until(() -> meter("miss", "NoSeat") == 1);
        assertThat(meter("hit", "Claimed")).isEqualTo(1);
        assertThat(told("two", sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .start())
                .isEqualTo("Cold: NoSeat");
    }

    @Tag("slow")
    @Test
    void whoWantsAWorkspaceStartsColdAndTheStatusSaysWhy() {
        seat(pool(), A);
        start();

        client.resource(sandbox(
                        "demo", SandboxSpec.DEFAULT.withWorkspace(new Workspace(new Quantity("1Gi"), null, false))))
                .create();

        assertThat(told("demo", sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .start())
                .isEqualTo("Cold: Workspace");
        await().atMost(SOON).until(() -> meter("miss", "Workspace") == 1);
    }

    private void answerToTheNextClaim(String seat, int code, String reason) {
        answerToClaims(seat, code, reason).once();
    }

    private TimesOnceableOrHttpHeaderable<Void> answerToClaims(String seat, int code, String reason) {
        return api.server()
                .expect()
                .patch()
                .withPath(PODS + "/sbx-" + seat + "-0")
                .andReturn(
                        code,
                        new StatusBuilder().withCode(code).withReason(reason).build());
    }

    @Tag("slow")
    @Test
    void afterThreeConflictsItStartsColdAndSaysThatOthersWereFaster() {
        SandboxPool pool = pool();
        for (String id : List.of(A, B, C)) {
            seat(pool, id);
            answerToTheNextClaim(id, 409, "Conflict");
        }
        start();

        create("demo");

        await().atMost(SOON).until(() -> meter("miss", "Contended") == 1);
        assertThat(told("demo", sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .start())
                .isEqualTo("Cold: Contended");
    }

    /** The API server made the claim and did not say so. */
    @Tag("slow")
    @Test
    void aRoundThatFailedIsFollowedByOneThatFindsTheClaim() {
        SandboxPool pool = pool();
        Pod seat = seat(pool, A);
        seat(pool, B);
        start();
        answerToClaims(A, 400, "BadRequest").always();

        Sandbox sandbox = create("demo");
        told("demo", found -> found.observed().reason(ConditionType.READY).equals(Optional.of(Reason.OPERATOR_ERROR)));
        claimBehindItsBack(seat, sandbox);

        assertThat(ready("demo").observed().seat()).isEqualTo(A);
        await().during(Duration.ofMillis(500))
                .atMost(SOON)
                .until(() -> ClaimedPod.isFree(client.pods()
                        .inNamespace("tenant-a")
                        .withName("sbx-" + B + "-0")
                        .get()));
    }

    @Tag("slow")
    @Test
    void anOperatorThatFollowsOneThatDiedAfterTheClaimOnlyTellsOfIt() throws Exception {
        Pod seat = seat(pool(), A);
        claimBehindItsBack(seat, create("demo"));
        requests();

        start();

        assertThat(ready("demo").observed().seat()).isEqualTo(A);
        assertThat(podNames()).containsExactly("sbx-" + A + "-0");
        assertThat(writes(ofTheOperator())).containsExactly("PUT " + SANDBOXES + "/demo/status");
    }
}
