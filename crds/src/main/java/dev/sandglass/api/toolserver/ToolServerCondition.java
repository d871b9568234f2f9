package dev.sandglass.api.toolserver;

/** The conditions in a tool server's status. */
public enum ToolServerCondition {
    ACCEPTED(
            "Accepted",
            "True: the operator made a Sandbox for the server, as the spec has it. False: it could not, and the"
                    + " reason says why. Unknown: the operator could not find out. Absent: the operator has not"
                    + " processed the resource yet."),

    AVAILABLE(
            "Available",
            "True: the pod in which the server runs is there now. False: it is not, for the reason that the"
                    + " Sandbox has, such as Starting or Idle. Whether the server in it answers, Verified says."),

    VERIFIED(
            "Verified",
            "True: the server answered the handshake of MCP; serverInfo, toolCount and toolsHash say what it is. It stays"
                    + " so while the server's pod sleeps. False: the server did not start, or did not answer as an MCP"
                    + " server does. Unknown: no gateway has talked to it since the spec changed or the Sandbox was made;"
                    + " its first call starts it."),

    READY(
            "Ready",
            "True: code can call the server; if its pod sleeps (Idle, MaxLifetime), the call starts it."
                    + " False: calls wait for it (Starting) or fail, and the reason says why.");

    private final String value;
    private final String meaning;

    ToolServerCondition(String value, String meaning) {
        this.value = value;
        this.meaning = meaning;
    }

    /** The {@code type} as it stands in the resource. */
    public String value() {
        return value;
    }

    /** What it means that it is True, False, Unknown or absent; for the reference of the API. */
    public String meaning() {
        return meaning;
    }
}
