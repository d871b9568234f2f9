package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.settings.SandboxUsers;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkspaceClaimTest {

    private static final String UID = "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80";

    private static Workspace workspace(String size, boolean keep) {
        return new Workspace(new Quantity(size), null, keep);
    }

    private static Sandbox sandbox(String uid, Workspace workspace) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid(uid);
        sandbox.setSpec(SandboxSpec.DEFAULT.withWorkspace(workspace));
        return sandbox;
    }

    private static PersistentVolumeClaim claim(Sandbox sandbox) {
        Workspace workspace = sandbox.wanted().workspace();
        return WorkspaceClaim.desired(
                sandbox, workspace == null ? workspace("1Gi", false) : workspace, SandboxUsers.DEFAULT);
    }

    private static String refusal(Sandbox sandbox, PersistentVolumeClaim claim) {
        return refusal(sandbox, claim, Reason.VOLUME_MISSING);
    }

    private static String refusal(Sandbox sandbox, PersistentVolumeClaim claim, Reason reason) {
        PodRefusal refusal = WorkspaceClaim.problem(sandbox, claim).orElseThrow();
        assertThat(refusal.reason()).isEqualTo(reason);
        return refusal.message();
    }

    @Test
    void itsOwnClaimAndOneThatWasKeptCanBeTaken() {
        Sandbox first = sandbox("first", workspace("1Gi", true));
        Sandbox second = sandbox("second", workspace("1Gi", false));
        assertThat(WorkspaceClaim.problem(first, claim(first))).isEmpty();
        assertThat(WorkspaceClaim.problem(second, claim(second))).isEmpty();
        assertThat(WorkspaceClaim.problem(second, claim(first))).isEmpty();
    }

    @Test
    void aClaimThatGoesWithAnotherSandboxIsWaitedFor() {
        Sandbox former = sandbox("former", workspace("1Gi", false));
        Sandbox sandbox = sandbox(UID, workspace("1Gi", false));
        assertThat(refusal(sandbox, claim(former), Reason.STARTING)).contains("still being deleted");
        PersistentVolumeClaim leaving = claim(sandbox)
                .edit()
                .editMetadata()
                .withDeletionTimestamp("2026-03-01T10:00:00Z")
                .endMetadata()
                .build();
        assertThat(refusal(sandbox, leaving, Reason.STARTING)).contains("still being deleted");
    }

    @Test
    void aClaimThatNoSandboxMadeIsNotTaken() {
        Sandbox sandbox = sandbox(UID, workspace("1Gi", true));
        for (String label : List.of(SandboxLabels.MANAGED_BY, SandboxLabels.COMPONENT, SandboxLabels.SANDBOX)) {
            PersistentVolumeClaim foreign = claim(sandbox)
                    .edit()
                    .editMetadata()
                    .addToLabels(label, "other")
                    .endMetadata()
                    .build();
            assertThat(refusal(sandbox, foreign)).contains("that Sandglass did not create");
        }
        PersistentVolumeClaim bare = claim(sandbox)
                .edit()
                .editMetadata()
                .withLabels(null)
                .endMetadata()
                .build();
        assertThat(refusal(sandbox, bare)).contains("workspace-demo", "that Sandglass did not create");
    }

    @Test
    void aClaimWhoseVolumeIsGoneIsTold() {
        Sandbox sandbox = sandbox(UID, workspace("1Gi", true));
        PersistentVolumeClaim lost = claim(sandbox)
                .edit()
                .withNewStatus()
                .withPhase("Lost")
                .endStatus()
                .build();
        assertThat(refusal(sandbox, lost)).contains("is gone");
    }

    @Test
    void itGrowsAndNeverShrinks() {
        PersistentVolumeClaim claim = claim(sandbox(UID, workspace("2Gi", false)));
        assertThat(WorkspaceClaim.growth(workspace("1Gi", false), claim)).isEmpty();
        assertThat(WorkspaceClaim.growth(workspace("2048Mi", false), claim)).isEmpty();
        assertThat(WorkspaceClaim.growth(workspace("3Gi", false), claim))
                .contains(Map.of("spec", Map.of("resources", Map.of("requests", Map.of("storage", "3Gi")))));
    }

    @Test
    void whatIsNotTheSizeThatIsWantedIsTold() {
        PersistentVolumeClaim claim = claim(sandbox(UID, workspace("2Gi", false)));
        assertThat(WorkspaceClaim.shortfall(sandbox(UID, workspace("2048Mi", false)), claim))
                .isEmpty();
        assertThat(WorkspaceClaim.shortfall(sandbox(UID, workspace("3Gi", false)), claim)
                        .orElseThrow())
                .contains("has 2Gi and not 3Gi", "storage class");
        assertThat(WorkspaceClaim.shortfall(sandbox(UID, workspace("1Gi", false)), claim)
                        .orElseThrow())
                .contains("has 2Gi and not 1Gi", "cannot shrink");
    }

    @Test
    void aClaimThatIsDeletedUnderItsPodIsTold() {
        Sandbox sandbox = sandbox(UID, workspace("3Gi", false));
        PersistentVolumeClaim leaving = claim(sandbox(UID, workspace("2Gi", false)))
                .edit()
                .editMetadata()
                .withDeletionTimestamp("2026-11-24T12:00:00Z")
                .endMetadata()
                .build();
        assertThat(WorkspaceClaim.shortfall(sandbox, leaving))
                .as("what is lost comes before what is too small")
                .contains(
                        "claim workspace-demo was deleted: Kubernetes removes the files of the workspace when this pod"
                                + " ends; copy what you need");
    }

    private static Workspace inClass(@Nullable String storageClass) {
        return new Workspace(new Quantity("1Gi"), storageClass, null);
    }

    private static Optional<String> otherClass(Sandbox sandbox, PersistentVolumeClaim claim) {
        return WorkspaceClaim.otherClass(sandbox, claim).map(refusal -> {
            assertThat(refusal.reason()).isEqualTo(Reason.VOLUME_MISSING);
            return refusal.message();
        });
    }

    @Test
    void aClaimOfAnotherClassThanTheSpecNamesIsNotTaken() {
        Sandbox sandbox = sandbox(UID, inClass("encrypted"));
        PersistentVolumeClaim local = claim(sandbox(UID, inClass("local")));
        PersistentVolumeClaim keptByFormer =
                claim(sandbox("former", new Workspace(new Quantity("1Gi"), "local", true)));
        PersistentVolumeClaim classless = claim(sandbox(UID, inClass(null)));

        assertThat(otherClass(sandbox, local))
                .contains("spec.workspace.storageClassName: claim workspace-demo has the storage class local and not"
                        + " encrypted, and a claim cannot change it; delete the claim and its files to start with a"
                        + " new one, or name the class that it has");
        assertThat(otherClass(sandbox, keptByFormer)).isEqualTo(otherClass(sandbox, local));
        assertThat(otherClass(sandbox, classless).orElseThrow()).contains("the storage class (none) and not encrypted");
        assertThat(WorkspaceClaim.shortfall(sandbox, local).orElseThrow())
                .contains("its workspace has the storage class local and not encrypted", "claim workspace-demo");
        assertThat(WorkspaceClaim.problem(sandbox, local))
                .as("it is the sandbox's own, to be kept or not")
                .isEmpty();
    }

    @Test
    void whoNamesNoClassTakesAny() {
        PersistentVolumeClaim local = claim(sandbox(UID, inClass("local")));
        for (Sandbox sandbox : List.of(sandbox(UID, inClass(null)), sandbox(UID, inClass("local")))) {
            assertThat(otherClass(sandbox, local)).isEmpty();
            assertThat(WorkspaceClaim.shortfall(sandbox, local)).isEmpty();
        }
    }

    @Test
    void keepTiesAndLetsGo() {
        Sandbox sandbox = sandbox(UID, workspace("1Gi", false));
        PersistentVolumeClaim tied = claim(sandbox);
        assertThat(tied.getMetadata().getOwnerReferences())
                .extracting(OwnerReference::getUid)
                .containsExactly(UID);
        PersistentVolumeClaim free = claim(sandbox(UID, workspace("1Gi", true)));
        assertThat(free.getMetadata().getOwnerReferences()).isEmpty();

        assertThat(WorkspaceClaim.tie(sandbox, workspace("1Gi", false), tied)).isEmpty();
        assertThat(WorkspaceClaim.tie(sandbox, workspace("1Gi", true), free)).isEmpty();
        assertThat(WorkspaceClaim.tie(sandbox, workspace("1Gi", true), tied))
                .contains(Map.of("metadata", Map.of("ownerReferences", List.of())));
        assertThat(WorkspaceClaim.tie(sandbox, workspace("1Gi", false), free))
                .contains(Map.of(
                        "metadata", Map.of("ownerReferences", tied.getMetadata().getOwnerReferences())));
    }

    @Test
    void aClaimThatCouldNotBeLetGoIsTold() {
        PersistentVolumeClaim tied = claim(sandbox(UID, workspace("1Gi", false)));
        Sandbox keeps = sandbox(UID, workspace("2Gi", true));

        assertThat(WorkspaceClaim.shortfall(keeps, tied))
                .as("what may be lost comes before what is too small")
                .contains(
                        "spec.workspace.keep has no effect: claim workspace-demo will be deleted with the sandbox, because"
                                + " the API server refused to remove its ownerReferences (the operator's log has the reason)");
        assertThat(WorkspaceClaim.notKept(keeps, claim(keeps))).isEmpty();
        assertThat(WorkspaceClaim.notKept(sandbox(UID, workspace("2Gi", false)), tied))
                .isEmpty();
    }

    @Test
    void whatAnEarlierSandboxKeptStaysFree() {
        PersistentVolumeClaim kept = claim(sandbox("former", workspace("1Gi", true)));
        assertThat(WorkspaceClaim.tie(sandbox(UID, workspace("1Gi", false)), workspace("1Gi", false), kept))
                .isEmpty();
    }
}
