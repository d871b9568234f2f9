package dev.sandglass.gateway.sandbox;

/** How what ran in a sandbox came to an end all at once. */
public sealed interface SandboxEnd {

    /** What happened, a sentence without its full stop. */
    String why();

    /** Its pod is another one now, or none. */
    record PodGone(String why) implements SandboxEnd {}

    /**
     * The container in its pod ended, and is started again in the same pod.
     *
     * @param outOfMemory whether it was ended at its memory limit
     */
    record ContainerEnded(String why, boolean outOfMemory) implements SandboxEnd {}
}
