package dev.sandglass.e2e.support;

import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a tool answered.
 *
 * @param text what a model reads
 * @param data the same for programs; empty if the tool gave none
 * @param failed the MCP flag {@code isError}
 * @param pictures their kinds, e.g. {@code image/png}
 */
public record Answer(String text, Map<?, ?> data, boolean failed, List<String> pictures) {

    public static Answer of(CallToolResult result) {
        String text = result.content().stream()
                .filter(TextContent.class::isInstance)
                .map(content -> ((TextContent) content).text())
                .collect(Collectors.joining("\n"));
        Map<?, ?> data = result.structuredContent() instanceof Map<?, ?> map ? map : Map.of();
        List<String> pictures = result.content().stream()
                .filter(ImageContent.class::isInstance)
                .map(content -> ((ImageContent) content).mimeType())
                .toList();
        return new Answer(text, data, Boolean.TRUE.equals(result.isError()), pictures);
    }

    public String status() {
        return string("status");
    }

    public String stdout() {
        return string("stdout");
    }

    public String stderr() {
        return string("stderr");
    }

    /** The value of the last expression, null if there was none. */
    @Nullable
    public String result() {
        return data.get("result") instanceof String value ? value : null;
    }

    public String executionId() {
        return string("execution_id");
    }

    public long number(String field) {
        if (data.get(field) instanceof Number number) {
            return number.longValue();
        }
        throw new AssertionError("no number '" + field + "' in " + this);
    }

    public boolean flag(String field) {
        return Boolean.TRUE.equals(data.get(field));
    }

    public Map<?, ?> object(String field) {
        if (data.get(field) instanceof Map<?, ?> map) {
            return map;
        }
        throw new AssertionError("no object '" + field + "' in " + this);
    }

    public List<?> list(String field) {
        if (data.get(field) instanceof List<?> list) {
            return list;
        }
        throw new AssertionError("no list '" + field + "' in " + this);
    }

    private String string(String field) {
        if (data.get(field) instanceof String value) {
            return value;
        }
        throw new AssertionError("no text '" + field + "' in " + this);
    }
}
