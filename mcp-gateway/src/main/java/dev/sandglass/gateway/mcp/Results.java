package dev.sandglass.gateway.mcp;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Prompt;
import dev.sandglass.gateway.contract.ToolDefinition;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of MCP's methods. Components that only the revision 2026-07-28 knows ({@code resultType}, {@code _meta},
 * {@code ttlMs}, {@code cacheScope}) are null for older clients.
 */
final class Results {

    private Results() {}

    /** Name and version of a program. */
    record Implementation(String name, String title, String version) {}

    /** A feature that never changes while the server runs. */
    record Fixed(boolean listChanged) {}

    /** A feature without settings. */
    record Plain() {}

    /** What a contract offers; null for what it has none of. */
    @JsonInclude(Include.NON_NULL)
    record Capabilities(
            @Nullable Fixed tools,
            @Nullable Fixed prompts,
            @Nullable Plain resources,
            @Nullable Plain completions) {

        static Capabilities of(Offer offer) {
            return new Capabilities(
                    fixed(offer.tools()),
                    fixed(offer.prompts()),
                    offer.resources().isPresent() ? new Plain() : null,
                    offer.completions().isPresent() ? new Plain() : null);
        }

        private static @Nullable Fixed fixed(List<?> offered) {
            return offered.isEmpty() ? null : new Fixed(false);
        }
    }

    /** Answer to {@code initialize}. */
    record Initialized(
            String protocolVersion, Capabilities capabilities, Implementation serverInfo, String instructions) {}

    /** Answer to {@code ping}. */
    record Pong() {}

    /** Who answers, in every result of the newer revision. */
    record Meta(
            @JsonProperty("io.modelcontextprotocol/serverInfo")
            Implementation serverInfo) {}

    /** Answer to {@code server/discover}. */
    @JsonInclude(Include.NON_NULL)
    record Discovered(
            @Nullable String resultType,
            List<String> supportedVersions,
            Capabilities capabilities,
            String instructions,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            @JsonProperty("_meta") @Nullable Meta meta) {}

    /** Answer to {@code tools/list}. */
    @JsonInclude(Include.NON_NULL)
    record ToolList(
            @Nullable String resultType,
            List<ListedTool> tools,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            @JsonProperty("_meta") @Nullable Meta meta) {}

    /** A tool as it is listed. */
    @JsonInclude(Include.NON_NULL)
    record ListedTool(
            String name,
            String title,
            String description,
            Map<String, Object> inputSchema,
            @Nullable Map<String, Object> outputSchema,
            ToolDefinition.Annotations annotations,
            @JsonProperty("_meta") @Nullable SizeHint meta) {
        static ListedTool of(ToolDefinition tool, boolean structured) {
            return new ListedTool(
                    tool.name(),
                    tool.title(),
                    tool.description(),
                    tool.inputSchema(),
                    structured ? tool.outputSchema() : null,
                    tool.annotations(),
                    tool.answersMayBeLong() ? SizeHint.OURS : null);
        }
    }

    /** So many characters of an answer a model may be handed: Claude Code puts more than 25,000 tokens into a file else. */
    record SizeHint(
            @JsonProperty("anthropic/maxResultSizeChars") int characters) {
        static final SizeHint OURS = new SizeHint(200_000);
    }

    /** Answer to {@code tools/call}. */
    @JsonInclude(Include.NON_NULL)
    record ToolAnswer(
            @Nullable String resultType,
            List<ContentPart> content,
            @Nullable Object structuredContent,
            @JsonProperty("isError") boolean isError,
            @JsonProperty("_meta") @Nullable Meta meta) {}

    /** A text ({@code text}) or a picture ({@code image}). */
    @JsonInclude(Include.NON_NULL)
    record ContentPart(
            String type,
            @Nullable String text,
            @Nullable String data,
            @Nullable String mimeType) {
        static ContentPart text(String text) {
            return new ContentPart("text", text, null, null);
        }

        static ContentPart image(String base64, String mimeType) {
            return new ContentPart("image", null, base64, mimeType);
        }
    }

    /** Answer to {@code prompts/list}. */
    @JsonInclude(Include.NON_NULL)
    record PromptList(
            @Nullable String resultType,
            List<ListedPrompt> prompts,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            @JsonProperty("_meta") @Nullable Meta meta) {}

    /** A prompt as it is listed. */
    record ListedPrompt(String name, String description, List<Prompt.Argument> arguments) {
        static ListedPrompt of(Prompt prompt) {
            return new ListedPrompt(prompt.name(), prompt.description(), prompt.arguments());
        }
    }

    /** Answer to {@code prompts/get}. */
    @JsonInclude(Include.NON_NULL)
    record PromptAnswer(
            @Nullable String resultType,
            String description,
            List<PromptMessage> messages,
            @JsonProperty("_meta") @Nullable Meta meta) {}

    /** One message of a prompt. */
    record PromptMessage(String role, ContentPart content) {}

    /** Parameters of {@code notifications/progress}. */
    record Progress(Object progressToken, long progress, String message) {}
}
