package dev.sandglass.gateway.contract;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What clients are told of a tool (MCP 2026-07-28, server/tools, "Tool").
 *
 * @param name unique and stable
 * @param title for people
 * @param description for the model
 * @param inputSchema JSON Schema 2020-12 of the arguments
 * @param outputSchema JSON Schema of the structured content; null if there is none
 * @param annotations hints for clients
 */
public record ToolDefinition(
        String name,
        String title,
        String description,
        Map<String, Object> inputSchema,
        @Nullable Map<String, Object> outputSchema,
        Annotations annotations) {

    /**
     * Hints of how a tool behaves.
     *
     * @param readOnlyHint changes nothing but that a sandbox which was suspended for want of use is resumed
     * @param destructiveHint may destroy what was there
     * @param idempotentHint a second call with the same arguments changes nothing more
     * @param openWorldHint reaches things outside the installation
     */
    public record Annotations(
            boolean readOnlyHint, boolean destructiveHint, boolean idempotentHint, boolean openWorldHint) {

        public static final Annotations READS = new Annotations(true, false, true, false);
        public static final Annotations STARTS = new Annotations(false, false, true, false);
        public static final Annotations ENDS = new Annotations(false, true, false, false);
        public static final Annotations STOPS = new Annotations(false, true, true, false);
        public static final Annotations WRITES = new Annotations(false, true, true, false);
        public static final Annotations RUNS = new Annotations(false, true, false, true);
    }
}
