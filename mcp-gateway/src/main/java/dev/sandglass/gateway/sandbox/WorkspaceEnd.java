package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.Workspace;
import org.jspecify.annotations.Nullable;

/** What becomes of the files in {@code /workspace} when their sandbox is deleted, as its {@code spec.workspace} says. */
public enum WorkspaceEnd {

    /** They were scratch files, which no stop leaves. */
    SCRATCH,

    /** The claim goes with the sandbox, but for one that an earlier sandbox of the name made and kept. */
    DELETED,

    /** {@code keep}: the claim stays for the next sandbox of the name. */
    KEPT;

    /** The end of what a sandbox has; null for no workspace but scratch room. */
    public static WorkspaceEnd of(@Nullable Workspace workspace) {
        if (workspace == null) {
            return SCRATCH;
        }
        return workspace.outlivesSandbox() ? KEPT : DELETED;
    }
}
