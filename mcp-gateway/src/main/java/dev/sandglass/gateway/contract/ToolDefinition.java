package dev.sandglass.gateway.contract;

import com.fasterxml.jackson.annotation.JsonInclude;
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
 * @param answersMayBeLong whether an answer may be longer than what agents hand to a model unasked
 */
public record ToolDefinition(
        String name,
        String title,
        String description,
        Map<String, Object> inputSchema,
        @Nullable Map<String, Object> outputSchema,
        Annotations annotations,
        boolean answersMayBeLong) {

    /** One whose answers are short. */
    public ToolDefinition(
            String name,
            String title,
            String description,
            Map<String, Object> inputSchema,
            @Nullable Map<String, Object> outputSchema,
            Annotations annotations) {
        this(name, title, description, inputSchema, outputSchema, annotations, false);
    }

    /** The same tool, whose answers may be long. */
    public ToolDefinition withLongAnswers() {
        return new ToolDefinition(name, title, description, inputSchema, outputSchema, annotations, true);
    }

    /**
     * Hints of how a tool behaves; null where the protocol's default holds.
     *
     * @param readOnlyHint changes nothing but that a sandbox which was suspended for want of use is resumed; default false
     * @param destructiveHint may destroy what was there; default true
     * @param idempotentHint a second call with the same arguments changes nothing more; default false
     * @param openWorldHint reaches things outside the installation; default true
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Annotations(
            @Nullable Boolean readOnlyHint,
            @Nullable Boolean destructiveHint,
            @Nullable Boolean idempotentHint,
            @Nullable Boolean openWorldHint) {

        public static final Annotations READS = new Annotations(true, null, null, false);
        public static final Annotations STARTS = new Annotations(null, false, true, false);
        public static final Annotations ENDS = new Annotations(null, null, null, false);
        public static final Annotations STOPS = new Annotations(null, null, true, false);
        public static final Annotations WRITES = new Annotations(null, null, true, false);
        public static final Annotations RUNS = new Annotations(null, null, null, null);
    }
}
