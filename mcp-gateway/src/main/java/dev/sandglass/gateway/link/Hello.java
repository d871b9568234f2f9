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
 * @param toConfigure whether it is in a seat and serves no sandbox before it is configured for one
 */
public record Hello(String bootId, long window, boolean networkOpen, boolean toConfigure) {

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
        if (!json.path("sandbox_uid").asString("").equals(target.startedUid())) {
            throw incompatible("another sandbox answers at its address");
        }
        return new Hello(
                boot,
                Math.clamp(json.path("window").asLong(MIN_WINDOW), MIN_WINDOW, MAX_WINDOW),
                json.path("network").path("reached").isString(),
                toConfigure(json.path("seat"), target));
    }

    /** Only a seat speaks of itself as one, and it serves the sandbox that it was configured for and no other. */
    private static boolean toConfigure(JsonNode seat, LinkTarget target) {
        if (target.seat().isEmpty()) {
            if (!seat.isMissingNode()) {
                throw incompatible("it says that its pod is a seat of a pool, and the sandbox is in none");
            }
            return false;
        }
        JsonNode configuredFor = seat.path("configured_for");
        if (configuredFor.isNull()) {
            return true;
        }
        if (!configuredFor.isString()) {
            throw incompatible(
                    "its version cannot be a seat of a pool. Build the sandbox's image anew with this version"
                            + " of Sandglass, or take it out of the pool's template");
        }
        if (!configuredFor.asString().equals(target.sandboxUid())) {
            throw incompatible("its pod serves another sandbox. Stop the sandbox and start it again");
        }
        return false;
    }

    /** The failure of all that is asked of such a supervisor; the reason is a clause. */
    static LinkException incompatible(String why) {
        return new LinkException(Kind.INCOMPATIBLE, "The sandbox's supervisor cannot be used: " + why);
    }
}
