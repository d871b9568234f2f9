package dev.sandglass.gateway.sandbox;

import java.util.List;

/**
 * What a deletion did.
 *
 * @param workspace what becomes of the files
 * @param heldBy the finalizers that keep the resource until their owners remove them; its pod has been told to end
 */
public record Deletion(WorkspaceEnd workspace, List<String> heldBy) {

    public Deletion {
        heldBy = List.copyOf(heldBy);
    }

    /** One that nothing holds up. */
    public static Deletion of(WorkspaceEnd workspace) {
        return new Deletion(workspace, List.of());
    }
}
