package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.LinkFrames;
import tools.jackson.databind.JsonNode;

/**
 * What a supervisor answered to hello.
 *
 * @param bootId names this run of the supervisor
 * @param window how many bytes of an execution's output it sends ahead of our acknowledgement
 * @param networkOpen whether it got through to what its NetworkPolicies must close; false also if it does not say so, as
 *     an earlier supervisor in an image of one's own
 */
public record Hello(String bootId, long window, boolean networkOpen) {

    private static final long MIN_WINDOW = 1024;
    private static final long MAX_WINDOW = 1024 * 1024;

    /**
     * Reads and checks the answer.
     *
     * @throws LinkException if this is not the supervisor that was called, or it speaks another protocol
     */
    static Hello parse(JsonNode json, LinkTarget target) {
        String boot = json.path("boot_id").asString("");
        if (json.path("protocol").asInt(0) != LinkFrames.PROTOCOL || boot.isEmpty()) {
            throw incompatible("it speaks another protocol");
        }
        if (!json.path("sandbox_uid").asString("").equals(target.sandboxUid())) {
            throw incompatible("another sandbox answers at its address");
        }
        return new Hello(
                boot,
                Math.clamp(json.path("window").asLong(MIN_WINDOW), MIN_WINDOW, MAX_WINDOW),
                json.path("network").path("reached").isString());
    }

    /** The failure of all that is asked of such a supervisor; the reason is a clause. */
    static LinkException incompatible(String why) {
        return new LinkException(Kind.INCOMPATIBLE, "The sandbox's supervisor cannot be used: " + why);
    }
}
