package dev.sandglass.gateway.link.call;

import dev.sandglass.gateway.link.frame.Blob;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a pod asks of this gateway. That it comes from this sandbox's pod is certain; everything in it may be the work of code,
 * the execution's id included.
 *
 * @param sandboxUid UID of the sandbox
 * @param incarnation number of its pod
 * @param kind what is asked for
 * @param executionId in whose name
 * @param arguments of the kind
 * @param blob bytes that came with it; mostly none
 */
public record PodCall(
        String sandboxUid, int incarnation, String kind, String executionId, ObjectNode arguments, Blob blob) {

    /** Not what it says. */
    @Override
    public String toString() {
        return "PodCall[" + sandboxUid + ", " + kind + "]";
    }
}
