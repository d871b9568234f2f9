package dev.sandglass.gateway.sandbox;

/**
 * What a sandbox's pod has been through.
 *
 * @param count how often its container was started again
 * @param why of the last time, a sentence without its full stop; empty if there was none
 */
public record Restarts(int count, String why) {

    /** A container that was never started again. */
    public static final Restarts NONE = new Restarts(0, "");
}
