package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.MockedRounds;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of a pod that a sandbox claimed. */
class ClaimedRoundsTest extends WarmRounds {

    @Test
    void aSecondPodOfASandboxEnds() {
        SandboxPool pool = pool();
        seat(pool, A);
        Pod second = seat(pool, B);
        start();
        create("demo");
        claimBehindItsBack(second, ready("demo"));

        await().atMost(SOON).untilAsserted(() -> {
            assertThat(podNames()).containsExactly("sbx-" + A + "-0");
            assertThat(secretNames()).containsExactly("sbx-" + A + "-0");
        });
        assertThat(ready("demo").observed().seat()).isEqualTo(A);
    }

    @Tag("slow")
    @Test
    void aSeatIsUsedOnceAndTheNextIncarnationClaimsAnother() {
        SandboxPool pool = pool();
        seat(pool, A);
        seat(pool, B);
        start();
        create("demo");
        ready("demo");

        suspend("demo", true);
        SandboxStatus asleep = told("demo", sandbox -> sandbox.observed().holds(ConditionType.SUSPENDED))
                .observed();
        assertThat(asleep.seat()).isNull();
        assertThat(asleep.start()).isNull();
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(podNames()).containsExactly("sbx-" + B + "-0");
            assertThat(secretNames()).containsExactly("sbx-" + B + "-0");
        });

        suspend("demo", false);

        SandboxStatus resumed = ready("demo").observed();
        assertThat(resumed.seat()).isEqualTo(B);
        assertThat(resumed.incarnation()).isEqualTo(2);
        assertThat(resumed.lost()).as("for the gateway to tell").isEqualTo("Requested");
    }

    private void suspend(String name, boolean suspended) {
        MockedRounds.edit(
                client.resources(Sandbox.class).inNamespace("tenant-a").withName(name), found -> {
                    found.setSpec(SandboxSpec.DEFAULT.withSuspended(suspended));
                    found.getMetadata().setGeneration(found.getMetadata().getGeneration() + 1);
                    return found;
                });
    }

    @Tag("slow")
    @Test
    void keysThatWereDeletedAreThoseOfTheSeatAgain() {
        seat(pool(), A);
        start();
        create("demo");
        ready("demo");
        Secret before = client.secrets()
                .inNamespace("tenant-a")
                .withName("sbx-" + A + "-0")
                .get();
        client.resource(before).delete();

        MockedRounds.editStatus(client.pods().inNamespace("tenant-a").withName("sbx-" + A + "-0"), found -> found.edit()
                .editStatus()
                .editFirstContainerStatus()
                .withRestartCount(1)
                .withNewState()
                .withNewWaiting()
                .withReason("CreateContainerConfigError")
                .endWaiting()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());

        await().atMost(SOON).untilAsserted(() -> assertThat(
                        client.secrets().inNamespace("tenant-a").list().getItems())
                .singleElement()
                .satisfies(made -> {
                    assertThat(made.getMetadata().getName()).isEqualTo("sbx-" + A + "-0");
                    assertThat(made.getData()).isEqualTo(before.getData());
                }));
    }

    @Test
    void anEvictedSeatIsReplacedByAnotherAndTheLossIsTold() {
        SandboxPool pool = pool();
        seat(pool, A);
        seat(pool, B);
        start();
        create("demo");
        ready("demo");

        client.pods().inNamespace("tenant-a").withName("sbx-" + A + "-0").delete();

        SandboxStatus next =
                told("demo", sandbox -> B.equals(sandbox.observed().seat())).observed();
        assertThat(next.incarnation()).isEqualTo(2);
        assertThat(next.lost()).isEqualTo("Deleted");
        assertThat(podNames()).containsExactly("sbx-" + B + "-0");
    }

    /** It may keep the sandbox for ever, and then no deadline would end the pod. */
    @Tag("slow")
    @Test
    void aClaimedPodEndsWithASandboxThatAFinalizerKeeps() {
        seat(pool(), A);
        start();
        create("demo");
        Sandbox sandbox = ready("demo");
        MockedRounds.edit(client.resource(sandbox), found -> {
            found.addFinalizer("example.com/hold");
            return found;
        });

        client.resource(sandbox).delete();

        awaitNeitherPodNorKeys();
    }

    /** Deleting with {@code --cascade=orphan} lets the pod go, and the sandbox is gone when the operator hears of it. */
    @Tag("slow")
    @Test
    void aClaimedPodThatIsLetGoEndsWithItsSandbox() {
        seat(pool(), A);
        start();
        create("demo");
        Sandbox sandbox = ready("demo");
        MockedRounds.edit(client.resource(sandbox), found -> {
            found.getMetadata().setFinalizers(List.of("orphan"));
            return found;
        });
        Sandbox leaving = client.resource(sandbox).get();
        leaving.getMetadata().setDeletionTimestamp("2026-11-24T00:00:00Z");
        api.server()
                .expect()
                .get()
                .withPath(SANDBOXES + "/demo")
                .andReturn(200, leaving)
                .always();
        MockedRounds.edit(client.pods().inNamespace("tenant-a").withName("sbx-" + A + "-0"), found -> found.edit()
                .editMetadata()
                .withOwnerReferences()
                .endMetadata()
                .build());

        client.resource(sandbox).delete();

        awaitNeitherPodNorKeys();
    }

    private void awaitNeitherPodNorKeys() {
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(podNames()).isEmpty();
            assertThat(secretNames()).isEmpty();
        });
    }
}
