package dev.sandglass.gateway.link.frame;

import tools.jackson.databind.JsonNode;

/**
 * What a supervisor answered to a verb.
 *
 * @param json the verb's object
 * @param blob bytes that came with it; mostly none
 */
public record Answer(JsonNode json, Blob blob) {

    /** Not what it says. */
    @Override
    public String toString() {
        return "Answer[" + blob + "]";
    }
}
