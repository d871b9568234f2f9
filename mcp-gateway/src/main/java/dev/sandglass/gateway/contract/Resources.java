package dev.sandglass.gateway.contract;

import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.execution.OutputListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What a contract offers to read by URI (MCP 2026-07-28, server/resources). */
public interface Resources {

    /** The forms of its URIs; the same for every caller. */
    List<Template> templates();

    /**
     * Some of what the caller can read now, and where the next page begins.
     *
     * @param cursor that an earlier page ended with; empty for the first page
     * @return errors with {@link InvalidArgument} if the cursor is none of ours
     */
    Mono<Page> list(Caller caller, Optional<String> cursor);

    /** What a URI is about, for the audit log; empty if it breaks a rule. */
    Optional<Subject> subject(String uri);

    /**
     * Reads one resource.
     *
     * @return errors with {@link ResourceProblem}, {@link InvalidArgument} and
     *     {@link dev.sandglass.api.name.InvalidNameException}, whose texts are for the caller; any other error is a fault of
     *     the gateway
     */
    Mono<Content> read(Request request);

    /**
     * A form of URIs.
     *
     * @param uriTemplate as RFC 6570 has it
     * @param name for programs
     * @param title for people
     * @param description for the model
     */
    record Template(String uriTemplate, String name, String title, String description) {}

    /**
     * A resource as it is listed.
     *
     * @param name for programs
     * @param title for people
     * @param mimeType null if the name does not say it
     * @param size in bytes; null if it is not known
     * @param modified when its content changed last
     */
    record Listed(
            String uri,
            String name,
            String title,
            @Nullable String mimeType,
            @Nullable Long size,
            Instant modified) {}

    /**
     * One page of a list.
     *
     * @param nextCursor empty if this is the last page
     */
    record Page(List<Listed> resources, Optional<String> nextCursor) {

        /** Keeps its own copy of the list. */
        public Page {
            resources = List.copyOf(resources);
        }
    }

    /** The sandbox and the path that a URI names. */
    record Subject(String namespace, String sandbox, String path) {}

    /** What was read. */
    sealed interface Content {

        /** Text, which is valid UTF-8. */
        record Text(String mimeType, String text) implements Content {}

        /** Anything else, in base64. */
        record Blob(String mimeType, String base64) implements Content {}
    }

    /**
     * One reading.
     *
     * @param caller whose rights count
     * @param uri as it was sent; not yet checked
     * @param longest that the caller waits; empty if the request does not say
     * @param progress hears meanwhile what the reading waits for
     */
    record Request(Caller caller, String uri, Optional<Duration> longest, OutputListener progress) {

        /** How the reading waits for a sandbox that is not up: so long, or less for an impatient caller. */
        public Patience patience(Duration otherwise) {
            return new Patience(
                    longest.filter(least -> least.compareTo(otherwise) < 0).orElse(otherwise), progress);
        }
    }
}
