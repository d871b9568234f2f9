package dev.sandglass.api.toolserver;

/**
 * The reasons that conditions of a tool server carry besides those of its Sandbox ({@link dev.sandglass.api.Reason}), which
 * {@code Available} and {@code Ready} repeat.
 */
public enum ToolServerReason {
    SANDBOX_MADE("SandboxMade", "Accepted=True: the Sandbox for the server exists and has the spec's settings."),

    NAME_TAKEN(
            "NameTaken",
            "Accepted=False: another Sandbox has the name that the server's would have. Final until that one is"
                    + " deleted."),

    INVALID_SPEC(
            "InvalidSpec",
            "Accepted=False: the spec breaks a rule that the schema cannot check; the message names it."
                    + " Final until the spec changes."),

    SANDBOX_REFUSED(
            "SandboxRefused",
            "Accepted=False: the API server refused the Sandbox for the server, for example because its image or"
                    + " its size is not allowed; the message has its answer. The operator tries again every 5"
                    + " minutes, and when the spec changes."),

    VERIFIED("Verified", "Verified=True: the server answered the handshake of MCP."),

    ENDPOINT_UNAVAILABLE(
            "EndpointUnavailable",
            "Verified=False: the server did not start, or did not answer as an MCP server does. The error of each call"
                    + " has the cause; the next call tries again."),

    NOT_VERIFIED(
            "NotVerified",
            "Verified=Unknown: no gateway has talked to the server since its spec changed or its Sandbox was made. Its"
                    + " first call starts it."),

    OPERATOR_ERROR("OperatorError", "Accepted=Unknown: the operator failed to process the resource and tries again.");

    private final String value;
    private final String meaning;

    ToolServerReason(String value, String meaning) {
        this.value = value;
        this.meaning = meaning;
    }

    /** The {@code reason} as it stands in the resource. */
    public String value() {
        return value;
    }

    /** On which condition it stands, what happened, and what comes next; for the reference of the API. */
    public String meaning() {
        return meaning;
    }
}
