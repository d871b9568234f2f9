package dev.sandglass.gateway.sandbox;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a seat needs to know of the sandbox that claimed it, and what any other pod has from its own environment.
 *
 * @param env variables of the sandbox's code, in their order
 * @param lost why what ran before is lost, in one word; empty if nothing is
 */
public record SeatConfiguration(Map<String, String> env, Optional<String> lost) {

    /** Copies the map. */
    public SeatConfiguration {
        env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
    }

    /** Not the variables, which may be secret. */
    @Override
    public String toString() {
        return "SeatConfiguration[" + env.size() + " variables, " + lost + "]";
    }
}
