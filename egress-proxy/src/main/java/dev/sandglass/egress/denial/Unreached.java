package dev.sandglass.egress.denial;

/** A target that a sandbox asked for and does not reach: the rules refuse it, or the way to it failed. */
public sealed interface Unreached permits Denial, Failure {

    /** One line of JSON, with its end. */
    String line();
}
