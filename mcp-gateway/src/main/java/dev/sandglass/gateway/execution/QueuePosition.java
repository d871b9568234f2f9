package dev.sandglass.gateway.execution;

import tools.jackson.databind.JsonNode;

/** How many executions come before one, as its supervisor tells it. Pure; what is odd becomes a harmless value. */
final class QueuePosition {

    private QueuePosition() {}

    /**
     * Reads it of what is told about one execution.
     *
     * @param queued what it is taken for if it waits and the supervisor, an older one, tells no more than that
     */
    static int of(JsonNode execution, int queued) {
        JsonNode position = execution.path("position");
        if (position.isInt()) {
            return Math.max(0, position.asInt());
        }
        return execution.path("state").asString("").equals("queued") ? queued : 0;
    }

    /**
     * Reads it of a list of all executions.
     *
     * @param number by which the supervisor knows the execution
     * @param before what it was when it was last told
     */
    static int in(JsonNode list, String number, int before) {
        for (JsonNode execution : list.path("executions")) {
            if (execution.path("execution_id").asString("").equals(number)) {
                return of(execution, before);
            }
        }
        return before;
    }
}
