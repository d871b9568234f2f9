package dev.sandglass.gateway.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Workspace;
import org.junit.jupiter.api.Test;

class WorkspaceEndTest {

    @Test
    void onlyWhatIsToBeKeptOutlivesItsSandbox() {
        assertThat(WorkspaceEnd.of(null)).isEqualTo(WorkspaceEnd.SCRATCH);
        assertThat(WorkspaceEnd.of(Workspace.of("1Gi", null, null))).isEqualTo(WorkspaceEnd.DELETED);
        assertThat(WorkspaceEnd.of(Workspace.of("1Gi", null, false))).isEqualTo(WorkspaceEnd.DELETED);
        assertThat(WorkspaceEnd.of(Workspace.of("1Gi", null, true))).isEqualTo(WorkspaceEnd.KEPT);
    }
}
