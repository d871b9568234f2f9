package dev.sandglass.gateway.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a tool answers.
 *
 * @param content for the model, in reading order
 * @param structuredContent the same for programs, of the shape of the tool's output schema; null if there is none
 * @param isError whether the model should see this as a failure
 * @param outcome one word for audit and metrics, e.g. the execution's status
 * @param executionId of the execution this tells of; null if it is about none
 */
public record ToolResult(
        List<Content> content,
        @Nullable Object structuredContent,
        boolean isError,
        String outcome,
        @Nullable String executionId) {

    /** The line of a text below which Sandglass itself speaks; nothing that comes out of a sandbox has it. */
    public static final String FENCE = FencedText.FENCE;

    /** Field of the structured content in which {@link #warned} puts what it adds. */
    public static final String WARNING = "warning";

    /** The outcome of a call that broke a rule or met a problem of its sandbox. */
    public static final String REFUSED = "refused";

    private static final JsonMapper JSON = JsonMapper.shared();

    /** Copies the list. */
    public ToolResult {
        content = List.copyOf(content);
    }

    /** Something a model can read. */
    public sealed interface Content {
        /** Plain text. */
        record Text(String text) implements Content {}

        /**
         * A long text that stands in the data too. Who gets the data gets {@code brief} in its place, and not all of it
         * twice.
         *
         * @param text makes it, for who gets it
         */
        record LongText(Supplier<String> text, String brief) implements Content {}

        /** A picture, its bytes in base64. */
        record Image(String mimeType, String data) implements Content {}
    }

    /**
     * Whether a text has nothing but white space, by the rules of Java, Python and JavaScript alike. Models' endpoints take
     * no such text, nor the conversation that it stands in: no answer has one.
     */
    public static boolean isBlank(String text) {
        return text.chars()
                .allMatch(c -> Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085' || c == '\ufeff');
    }

    /** A text with the same facts for programs. */
    public static ToolResult ok(String text, Object structuredContent) {
        return new ToolResult(List.of(new Content.Text(text)), structuredContent, false, "ok", null);
    }

    /** A failure in the form of contracts.md M26. */
    public static ToolResult error(String message, String outcome) {
        return new ToolResult(List.of(new Content.Text("Error: " + message)), null, true, outcome, null);
    }

    /**
     * The same with one more note of the gateway. It stands in the one text that an answer has, before its pictures: many
     * clients read the first part alone.
     */
    public ToolResult and(String note) {
        var more = new ArrayList<>(content);
        switch (more.getFirst()) {
            case Content.Text(String text) -> more.set(0, new Content.Text(FencedText.and(text, note)));
            case Content.LongText(Supplier<String> text, String brief) ->
                more.set(0, new Content.LongText(() -> FencedText.and(text.get(), note), FencedText.and(brief, note)));
            case Content.Image image -> more.addFirst(new Content.Text(FencedText.and("", note)));
        }
        return new ToolResult(more, structuredContent, isError, outcome, executionId);
    }

    /** The same with a warning, which programs find in the field of that name. */
    public ToolResult warned(String warning) {
        ToolResult noted = and(warning);
        return JSON.valueToTree(structuredContent) instanceof ObjectNode facts
                ? new ToolResult(noted.content(), facts.put(WARNING, warning), isError, outcome, executionId)
                : noted;
    }

    /** Never the content: it may hold what the code printed. */
    @Override
    public String toString() {
        return "ToolResult[" + outcome + ", " + content.size() + " parts]";
    }
}
