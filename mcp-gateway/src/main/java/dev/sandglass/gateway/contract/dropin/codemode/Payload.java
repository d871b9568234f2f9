package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.output.Image;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What {@code run_python} answers (contracts.md X8 to X12).
 *
 * @param status success, error, validation_error or timeout
 * @param summary a sentence
 * @param exitCode null if the code was not run to an end
 * @param stdout standard output
 * @param stderr standard error
 * @param error null for success
 * @param timeoutSeconds null but for a timeout
 * @param servers MCP servers that were loaded
 * @param notes what else to know
 */
record Payload(
        String status,
        String summary,
        @Nullable Integer exitCode,
        String stdout,
        String stderr,
        @Nullable String error,
        @Nullable Long timeoutSeconds,
        List<String> servers,
        List<String> notes) {

    static final String SUCCESS = "success";

    Payload {
        servers = List.copyOf(servers);
        notes = List.copyOf(notes);
    }

    /** A call of which nothing was run. */
    static Payload unrun(String status, String summary, String error) {
        return new Payload(status, summary, null, "", "", error, null, List.of(), List.of());
    }

    /**
     * The answer.
     *
     * @param outcome for audit and metrics
     */
    ToolResult result(OutputForm form, List<Image> images, String outcome, @Nullable String executionId) {
        var content = new ArrayList<ToolResult.Content>();
        content.add(new ToolResult.Content.Text(
                switch (form) {
                    case COMPACT -> compact();
                    case TOON -> "```toon\n" + Toon.of(facts()) + "\n```";
                    case JSON -> block();
                }));
        images.forEach(image -> content.add(new ToolResult.Content.Image(image.mimeType(), image.base64())));
        return new ToolResult(content, facts(), !status.equals(SUCCESS), outcome, executionId);
    }

    private String compact() {
        var output = new StringBuilder(stdout);
        if (!stderr.isEmpty()) {
            output.append(output.isEmpty() || stdout.endsWith("\n") ? "" : "\n")
                    .append("stderr:\n")
                    .append(stderr);
        }
        boolean plain = status.equals(SUCCESS) && !ToolResult.isBlank(output.toString());
        String head = status.equals(SUCCESS) ? summary : "[" + status + "] " + summary;
        return FencedText.of(plain ? "" : head, output.toString(), notes);
    }

    /** A backtick would end the block. */
    private String block() {
        return "```json\n" + ForeignText.json(facts().toString()).replace("`", "\\u0060") + "\n```";
    }

    private ObjectNode facts() {
        ObjectNode facts =
                JsonNodeFactory.instance.objectNode().put("status", status).put("summary", summary);
        if (exitCode != null) {
            facts.put("exitCode", exitCode);
        }
        if (!servers.isEmpty()) {
            servers.forEach(facts.putArray("servers")::add);
        }
        lines(facts.putArray("stdout"), stdout);
        lines(facts.putArray("stderr"), stderr);
        if (error != null) {
            facts.put("error", error);
        }
        if (timeoutSeconds != null) {
            facts.put("timeoutSeconds", timeoutSeconds);
        }
        if (!notes.isEmpty()) {
            notes.forEach(facts.putArray("notes")::add);
        }
        return facts;
    }

    private static void lines(ArrayNode array, String text) {
        text.lines().forEach(array::add);
    }

    /** Of the answer as data. */
    static Map<String, Object> schema() {
        var line = Schema.ofType("string");
        return Schema.object()
                .required(
                        "status",
                        Schema.text("How it ended")
                                .with("enum", List.of(SUCCESS, "error", "validation_error", "timeout")))
                .required("summary", Schema.text("The same as a sentence"))
                .optional("exitCode", Schema.integer("0 for success"))
                .optional("servers", Schema.list("MCP servers that were loaded", line))
                .required("stdout", Schema.list("Lines of standard output", line))
                .required("stderr", Schema.list("Lines of standard error", line))
                .optional("error", Schema.text("What went wrong"))
                .optional("timeoutSeconds", Schema.integer("Of a timeout"))
                .optional("notes", Schema.list("What else to know", line))
                .keywords();
    }
}
