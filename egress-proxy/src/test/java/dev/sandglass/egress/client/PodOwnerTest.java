package dev.sandglass.egress.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.egress.testing.TenantObjects;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose a pod is and which credential it has, also of pods that contradict themselves. */
class PodOwnerTest {

    private static final String SEAT = "5f0f6f0e-43b5-4d9c-9a51-6a1c0a4c8a10";
    private static final String OTHER_SEAT = "5f0f6f0e-43b5-4d9c-9a51-6a1c0a4c8a11";
    private static final String SANDBOX = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";
    private static final String OTHER_SANDBOX = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d45";

    private static Pod pod(String name, OwnerReference... owners) {
        return new PodBuilder()
                .withMetadata(new ObjectMetaBuilder()
                        .withName(name)
                        .withOwnerReferences(owners)
                        .build())
                .build();
    }

    private static Pod seat(String name, String id, OwnerReference... owners) {
        return new PodBuilder(pod(name, owners))
                .editMetadata()
                .addToLabels(SandboxLabels.SEAT, id)
                .endMetadata()
                .build();
    }

    private static OwnerReference sandbox(String uid) {
        return TenantObjects.owner("Sandbox", "one", uid);
    }

    private static OwnerReference pool() {
        return TenantObjects.owner("SandboxPool", "warm", OTHER_SANDBOX);
    }

    @Test
    void aPodThatWasMadeForItsSandbox() {
        Pod pod = pod("sbx-" + SANDBOX + "-7", sandbox(SANDBOX));
        assertThat(PodOwner.owner(pod)).hasValue(SANDBOX);
        assertThat(PodOwner.subject(pod, SANDBOX)).hasValue(SANDBOX);
        assertThat(PodOwner.isSeat(pod)).isFalse();
        assertThat(PodOwner.isUnclaimed(pod)).isFalse();
    }

    @Test
    void aSeatBeforeItsClaimAndAfter() {
        Pod seat = seat("sbx-" + SEAT + "-0", SEAT, pool());
        assertThat(PodOwner.owner(seat)).isEmpty();
        assertThat(PodOwner.isUnclaimed(seat)).isTrue();

        Pod claimed = TenantObjects.claimed(seat, "one", SANDBOX);
        assertThat(PodOwner.owner(claimed)).hasValue(SANDBOX);
        assertThat(PodOwner.subject(claimed, SANDBOX)).hasValue(SEAT);
        assertThat(PodOwner.isSeat(claimed)).isTrue();
        assertThat(PodOwner.isUnclaimed(claimed)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sbx-" + OTHER_SANDBOX + "-1",
                "sbx-" + SANDBOX + "-0",
                "sbx-" + SANDBOX,
                "sbx-" + SANDBOX + "-1x",
                "sbx-" + SEAT + "-0",
                "one-1"
            })
    void aPodWhoseNameIsNotThatOfItsSandboxHasNoCredential(String name) {
        assertThat(PodOwner.subject(pod(name, sandbox(SANDBOX)), SANDBOX)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sbx-" + OTHER_SEAT + "-0",
                "sbx-" + SEAT + "-1",
                "sbx-" + SANDBOX + "-1",
                "sbx-" + SANDBOX + "-0",
                "sbx-" + SEAT,
                "warm-0"
            })
    void aSeatWhoseNameIsNotThatOfItsLabelHasNoCredentialAndIsNotWaitedFor(String name) {
        assertThat(PodOwner.subject(seat(name, SEAT, sandbox(SANDBOX)), SANDBOX))
                .isEmpty();
        assertThat(PodOwner.isUnclaimed(seat(name, SEAT, pool()))).isFalse();
    }

    @Test
    void aPodWithTheLabelOfSeatsThatAnythingElseOwnsIsNotWaitedFor() {
        String name = "sbx-" + SEAT + "-0";
        OwnerReference foreign = new OwnerReferenceBuilder(pool())
                .withApiVersion("sandglass.dev.example.com/v1alpha1")
                .build();
        OwnerReference inName =
                new OwnerReferenceBuilder(pool()).withController(false).build();
        OwnerReference replicaSet = new OwnerReferenceBuilder(pool())
                .withApiVersion("apps/v1")
                .withKind("ReplicaSet")
                .build();
        for (OwnerReference[] owners : List.of(
                new OwnerReference[0],
                new OwnerReference[] {foreign},
                new OwnerReference[] {inName},
                new OwnerReference[] {replicaSet},
                new OwnerReference[] {TenantObjects.owner("SandboxToolServer", "tool", SANDBOX)},
                new OwnerReference[] {pool(), replicaSet},
                new OwnerReference[] {pool(), sandbox(SANDBOX)})) {
            Pod pod = seat(name, SEAT, owners);
            assertThat(PodOwner.isUnclaimed(pod)).as("%s", (Object) owners).isFalse();
            assertThat(PodOwner.owner(pod)).as("%s", (Object) owners).isEmpty();
        }
        assertThat(PodOwner.isUnclaimed(seat(name, SEAT, pool()))).isTrue();
    }

    @Test
    void aPodThatTwoSandboxesControlIsNeithers() {
        assertThat(PodOwner.owner(pod("sbx-" + SANDBOX + "-1", sandbox(SANDBOX), sandbox(OTHER_SANDBOX))))
                .isEmpty();
    }
}
