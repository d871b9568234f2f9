package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which suspended sandboxes are given up, and which never: files that go with a sandbox keep it. */
class RetentionTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant END = START.plus(Duration.ofHours(24));
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static Sandbox suspended(@Nullable Workspace workspace) {
        SandboxStatus asleep = new SandboxStatus(
                1L,
                Statuses.suspended(Reason.REQUESTED).conditions(),
                null,
                null,
                1,
                null,
                START.toString(),
                null,
                null,
                null,
                null);
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", asleep);
        sandbox.getMetadata().setGeneration(2L);
        sandbox.setSpec(SandboxSpec.DEFAULT.withSuspended(true).withWorkspace(workspace));
        return sandbox;
    }

    private static PersistentVolumeClaim claim(@Nullable String ownerUid) {
        PersistentVolumeClaimBuilder claim = new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName("workspace-demo")
                .endMetadata();
        return ownerUid == null
                ? claim.build()
                : claim.editMetadata()
                        .addNewOwnerReference()
                        .withName("demo")
                        .withUid(ownerUid)
                        .endOwnerReference()
                        .endMetadata()
                        .build();
    }

    private static Observed seen(@Nullable Workspace workspace, Optional<PersistentVolumeClaim> claim, Instant now) {
        return new Observed(suspended(workspace), Optional.empty(), Optional.empty(), Optional.empty(), true, now)
                .withWorkspace(claim);
    }

    private static void isNeverGivenUp(@Nullable Workspace workspace, Optional<PersistentVolumeClaim> claim) {
        Observed seen = seen(workspace, claim, START.plus(Duration.ofDays(3650)));
        Decision decision = Lifecycle.decide(seen, DEADLINES);

        assertThat(decision).isEqualTo(new Decision.Keep());
        assertThat(StatusReport.of(seen, decision, Optional.empty(), DEADLINES).expiresAt())
                .isNull();
    }

    @Test
    void aSandboxWithAWorkspaceIsNeverGivenUp() {
        isNeverGivenUp(new Workspace(new Quantity("1Gi"), null, null), Optional.empty());
    }

    @Test
    void norIsOneWhoseSpecLostItsWorkspaceAsLongAsTheClaimIsThere() {
        isNeverGivenUp(null, Optional.of(claim("uid-demo")));
    }

    /** It would be made again at once, and run until it sleeps again. */
    @Test
    void norIsTheSandboxOfAToolServer() {
        Sandbox child = suspended(null);
        child.setMetadata(ToolServerChild.desired(Servers.stdio()).getMetadata());
        child.getMetadata().setGeneration(2L);
        Observed seen = new Observed(
                child, Optional.empty(), Optional.empty(), Optional.empty(), true, START.plus(Duration.ofDays(3650)));

        assertThat(Lifecycle.decide(seen, DEADLINES)).isEqualTo(new Decision.Keep());
        assertThat(StatusReport.of(seen, new Decision.Keep(), Optional.empty(), DEADLINES)
                        .expiresAt())
                .isNull();

        child.getMetadata().setOwnerReferences(List.of());
        assertThat(Lifecycle.decide(seen, DEADLINES))
                .as("the label alone keeps none")
                .isEqualTo(new Decision.Delete());
    }

    @Test
    void aClaimThatOutlivesTheSandboxOrIsAnothersDoesNotKeepIt() {
        for (PersistentVolumeClaim claim : new PersistentVolumeClaim[] {claim(null), claim("uid-other")}) {
            Observed before = seen(null, Optional.of(claim), END.minusMillis(1));
            assertThat(Lifecycle.decide(before, DEADLINES)).isEqualTo(new Decision.Sleep(END));
            assertThat(StatusReport.of(before, new Decision.Sleep(END), Optional.empty(), DEADLINES)
                            .expiresAt())
                    .isEqualTo(END.toString());
            assertThat(Lifecycle.decide(seen(null, Optional.of(claim), END), DEADLINES))
                    .isEqualTo(new Decision.Delete());
        }
    }
}
