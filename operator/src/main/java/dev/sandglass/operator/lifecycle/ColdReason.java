package dev.sandglass.operator.lifecycle;

/** Why a sandbox gets a pod of its own although its namespace has a pool. */
public enum ColdReason {
    /** No pool of the namespace has the fields of its spec. */
    NO_MATCH("NoMatch"),
    /** A pool matches and has no seat that is ready and up to date. */
    NO_SEAT("NoSeat"),
    /** Its spec has volumes, which a running pod cannot be given. */
    VOLUMES("Volumes"),
    /** Its spec has a workspace that outlives the pod. */
    WORKSPACE("Workspace"),
    /** An MCP server of a SandboxToolServer runs in it. */
    TOOL_SERVER("ToolServer"),
    /** Its pod would test other addresses than the seats do, because its list opens some directly. */
    NETWORK("Network"),
    /** Other sandboxes claimed the seats at the same moment. */
    CONTENDED("Contended");

    private final String word;

    ColdReason(String word) {
        this.word = word;
    }

    /** As the status and the metrics have it. */
    public String word() {
        return word;
    }
}
