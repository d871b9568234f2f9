package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.pool.Pools;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Cold starts in a namespace whose quota is full, with seats in it and without. */
class RoomRoundsTest extends WarmRounds {

    /** No seat fits it. */
    private static final SandboxSpec LARGE = new SandboxSpec(null, new Quantity("2Gi"), null, null, null, false);

    private void refuseTheNextPod() {
        api.server()
                .expect()
                .post()
                .withPath(PODS)
                .andReturn(
                        403,
                        new StatusBuilder()
                                .withCode(403)
                                .withReason("Forbidden")
                                .withMessage("pods \"x\" is forbidden: exceeded quota: pods, requested: pods=1")
                                .build())
                .once();
    }

    private void createLarge() {
        client.resource(sandbox("demo", LARGE)).create();
    }

    private static boolean hasPod(Sandbox sandbox) {
        return sandbox.observed().podName() != null;
    }

    @Tag("slow")
    @Test
    void aSeatGoesThatTakesUpTheRoomOfASandboxAndTheSandboxStartsSoon() {
        SandboxPool pool = pool();
        seat(pool, A);
        seat(pool, B);
        start();
        refuseTheNextPod();

        createLarge();

        Sandbox waits = told(
                "demo",
                sandbox -> sandbox.observed().reason(ConditionType.READY).equals(Optional.of(Reason.STARTING)));
        assertThat(waits.observed().condition(ConditionType.READY).orElseThrow().getMessage())
                .startsWith("A seat of a pool ends to make room for the pod; ")
                .contains("exceeded quota");
        assertThat(seats()).hasSize(1);
        assertThat(told("demo", RoomRoundsTest::hasPod).observed().start()).isEqualTo("Cold: NoMatch: memory");
        assertThat(seats()).as("one was enough").hasSize(1);
    }

    @Test
    void withoutSeatsNothingChanges() throws Exception {
        pool();
        start();
        refuseTheNextPod();
        requests();

        createLarge();

        told(
                "demo",
                sandbox -> sandbox.observed().reason(ConditionType.READY).equals(Optional.of(Reason.QUOTA_EXCEEDED)));
        assertThat(ofTheOperator()).noneMatch(request -> request.startsWith("DELETE " + PODS));
    }

    /** Else it would take the room back at once. */
    @Tag("slow")
    @Test
    void thePoolLeavesTheRoomToTheSandbox() {
        client.resource(Pools.pool("warm", 1)).create();
        start();
        String seat = await().atMost(SOON)
                .until(this::seats, names -> names.size() == 1)
                .getFirst();
        refuseTheNextPod();

        createLarge();

        String pod = told("demo", RoomRoundsTest::hasPod).observed().podName();
        assertThat(podNames()).doesNotContain(seat).containsExactly(pod);
    }

    private List<String> seats() {
        return client.pods().inNamespace("tenant-a").withLabel(SandboxLabels.SEAT).list().getItems().stream()
                .map(pod -> pod.getMetadata().getName())
                .toList();
    }
}
