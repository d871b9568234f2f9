package dev.sandglass.gateway.execution;

/** What came of asking a sandbox whether anything runs there that needs a link. */
public enum Adopted {
    /** Something runs there, and the link is kept until it ended. */
    ADOPTED,
    /** Its link was kept already. */
    KEPT_BEFORE,
    /** Nothing runs there. */
    IDLE,
    /** It did not answer. */
    UNREACHABLE,
    /** This replica keeps as many links as it may. */
    TOO_MANY
}
