package dev.sandglass.gateway.mcp;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sandglass.gateway.contract.Completions;
import dev.sandglass.gateway.contract.Resources;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The results of the methods about resources and of completion; see {@link Results} for what only some revisions have. */
final class ResourceResults {

    private static final int BYTES_OF_A_TEXT = 64;
    private static final int JSON_CHARACTERS = 6;

    private ResourceResults() {}

    /** An answer of names that code in sandboxes chose: its request holds so much until a slow client has read it. */
    interface Weighed {
        /** What its texts take, as they are and as JSON, in which a character may be six. */
        @JsonIgnore
        long bytes();
    }

    private static long weight(Stream<String> texts) {
        return texts.mapToLong(text -> BYTES_OF_A_TEXT + (2L + JSON_CHARACTERS) * text.length())
                .sum();
    }

    /** Answer to {@code resources/list}. */
    @JsonInclude(Include.NON_NULL)
    record ResourceList(
            @Nullable String resultType,
            List<ListedResource> resources,
            @Nullable String nextCursor,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            @JsonProperty("_meta") Results.@Nullable Meta meta)
            implements Weighed {
        @Override
        public long bytes() {
            return weight(resources.stream().flatMap(each -> Stream.of(each.uri(), each.name(), each.title())));
        }
    }

    /** A resource as it is listed. */
    @JsonInclude(Include.NON_NULL)
    record ListedResource(
            String uri,
            String name,
            String title,
            @Nullable String mimeType,
            @Nullable Long size,
            Annotations annotations) {

        static ListedResource of(Resources.Listed resource) {
            return new ListedResource(
                    resource.uri(),
                    resource.name(),
                    resource.title(),
                    resource.mimeType(),
                    resource.size(),
                    new Annotations(resource.modified().toString()));
        }
    }

    /** When a resource's content changed last, ISO 8601. */
    record Annotations(String lastModified) {}

    /** Answer to {@code resources/templates/list}. */
    @JsonInclude(Include.NON_NULL)
    record TemplateList(
            @Nullable String resultType,
            List<Resources.Template> resourceTemplates,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            @JsonProperty("_meta") Results.@Nullable Meta meta) {}

    /** Answer to {@code resources/read}. */
    @JsonInclude(Include.NON_NULL)
    record ReadAnswer(
            @Nullable String resultType,
            List<Contents> contents,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            @JsonProperty("_meta") Results.@Nullable Meta meta) {}

    /** What was read: {@code text}, or {@code blob} in base64. */
    @JsonInclude(Include.NON_NULL)
    record Contents(
            String uri,
            String mimeType,
            @Nullable String text,
            @Nullable String blob) {

        static Contents of(String uri, Resources.Content content) {
            return switch (content) {
                case Resources.Content.Text(String type, String text) -> new Contents(uri, type, text, null);
                case Resources.Content.Blob(String type, String base64) -> new Contents(uri, type, null, base64);
            };
        }
    }

    /** Answer to {@code completion/complete}. */
    @JsonInclude(Include.NON_NULL)
    record CompletionAnswer(
            @Nullable String resultType,
            Completion completion,
            @JsonProperty("_meta") Results.@Nullable Meta meta) implements Weighed {
        @Override
        public long bytes() {
            return weight(completion.values().stream());
        }
    }

    /** The values of an argument that begin with what was typed. */
    @JsonInclude(Include.NON_NULL)
    record Completion(
            List<String> values,
            @Nullable Integer total,
            @JsonProperty("hasMore") boolean hasMore) {

        static Completion of(Completions.Values values) {
            return new Completion(values.values(), values.total(), values.more());
        }
    }
}
