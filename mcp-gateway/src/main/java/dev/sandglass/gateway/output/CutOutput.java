package dev.sandglass.gateway.output;

/** What becomes of the output for which an answer has no room. */
public enum CutOutput {
    /** There is none. */
    NONE,
    /** The supervisor holds it: it is read on. */
    READABLE,
    /** The supervisor that held it is gone, and nobody else had it. */
    LOST
}
