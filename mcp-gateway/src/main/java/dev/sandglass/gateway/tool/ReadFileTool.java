package dev.sandglass.gateway.tool;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.FilePage;
import dev.sandglass.gateway.execution.SandboxFiles;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** {@code sandbox_read_file}: a page of text, a picture, or bytes (contracts.md O12). */
final class ReadFileTool implements Tool {

    /** Room for one character, however long. */
    private static final int LEAST_LENGTH = 4;

    private static final int LENGTH = 32 * 1024;

    /** Models' endpoints refuse a longer one, together with the whole conversation. */
    private static final int MOST_SIDE = 8000;

    private static final String IMAGE = "image";

    private final TenantAccess access;
    private final SandboxRuns runs;
    private final SandboxFiles files;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_read_file",
            "Read a file of a sandbox",
            """
            Reads a file of a sandbox: text page by page (next_offset reads on), pictures (PNG, JPEG, GIF, WebP) to look \
            at, and anything else with encoding 'base64'.""",
            SandboxArguments.schema()
                    .required("path", FileArguments.path("The file"))
                    .optional(
                            "encoding",
                            FileArguments.encoding("How the content is answered; left out: a picture as a picture,"
                                    + " anything else as text"))
                    .optional("offset", Schema.integer("First byte, default 0").with("minimum", 0))
                    .optional(
                            "length",
                            Schema.integer("Most bytes, default %d, at most %d"
                                            .formatted(LENGTH, SandboxFiles.MOST_BYTES))
                                    .with("minimum", LEAST_LENGTH)
                                    .with("maximum", SandboxFiles.MOST_BYTES))
                    .keywords(),
            Page.schema(),
            ToolDefinition.Annotations.READS);

    ReadFileTool(TenantAccess access, SandboxRuns runs, SandboxFiles files) {
        this.access = access;
        this.runs = runs;
        this.files = files;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        SandboxRef ref = SandboxArguments.read(call, access);
        String path = FileArguments.path(arguments, "path");
        Optional<String> encoding = FileArguments.encoding(arguments);
        long offset = arguments.offset("offset");
        int length = arguments
                .integer("length", LEAST_LENGTH, SandboxFiles.MOST_BYTES)
                .orElse(LENGTH);
        return runs.use(ref, sandbox -> files.read(sandbox, path, offset, length)
                .flatMap(page -> encoding.isEmpty() && page.pictureType().isPresent()
                        ? picture(sandbox, path, page)
                        : Mono.just(
                                encoding.equals(Optional.of(FileArguments.BASE64))
                                        ? base64(ref, path, page)
                                        : text(ref, path, page))));
    }

    private Mono<ToolResult> picture(RunningSandbox sandbox, String path, FilePage begin) {
        if (begin.size() > SandboxFiles.MOST_BYTES) {
            throw new InvalidArgument(
                    "'%s' is a picture of %d bytes, and at most %d are shown: make it smaller in the sandbox, or read it in pieces with encoding 'base64'"
                            .formatted(path, begin.size(), SandboxFiles.MOST_BYTES));
        }
        return (begin.isWhole() ? Mono.just(begin) : files.read(sandbox, path, 0, SandboxFiles.MOST_BYTES))
                .map(page -> shown(sandbox.ref(), path, page));
    }

    private static ToolResult shown(SandboxRef ref, String path, FilePage page) {
        String type = page.pictureType()
                .filter(any -> page.isWhole())
                .orElseThrow(() -> new InvalidArgument("'%s' changed while it was read; try again".formatted(path)));
        // A camera's JPEG says its sides only behind its preview, so that the first page would not do.
        long side = page.longerSide()
                .orElseThrow(() -> new InvalidArgument(
                        "'%s' begins as a picture (%s) and does not say its width and height: it is cut off or damaged, and no model could look at it; read it with encoding 'base64'"
                                .formatted(path, type)));
        if (side > MOST_SIDE) {
            throw new InvalidArgument(
                    "'%s' is a picture whose longer side has %d pixels, and at most %d are shown: make it smaller in the sandbox, or read it with encoding 'base64'"
                            .formatted(path, side, MOST_SIDE));
        }
        return new ToolResult(
                List.of(new ToolResult.Content.Image(type, page.base64())),
                Page.of(ref, path, IMAGE, page, page.end()).picture(type),
                false,
                "ok",
                null);
    }

    private static ToolResult base64(SandboxRef ref, String path, FilePage page) {
        return answer(
                page.base64(),
                Page.of(ref, path, FileArguments.BASE64, page, page.end()).with(page.base64()));
    }

    private static ToolResult text(SandboxRef ref, String path, FilePage page) {
        return switch (page.text()) {
            case FilePage.Text.Some(String text, long end) ->
                answer(text, Page.of(ref, path, FileArguments.TEXT, page, end).with(text));
            case FilePage.Text.Inside(long next) ->
                throw new InvalidArgument("'offset' %d of '%s' is inside a character; the next one begins at %d"
                        .formatted(page.offset(), path, next));
            case FilePage.Text.None(long at) ->
                throw new InvalidArgument(
                        "'%s' is not UTF-8 text (at byte %d); read it with encoding 'base64'".formatted(path, at));
        };
    }

    private static ToolResult answer(String content, Page facts) {
        var parts = new ArrayList<ToolResult.Content>();
        parts.add(new ToolResult.Content.Text(ToolResult.isBlank(content) ? blank(facts) : content));
        if (facts.truncated) {
            parts.add(new ToolResult.Content.Text("[truncated: bytes %d to %d of %d] Read on with offset %d."
                    .formatted(facts.offset, facts.nextOffset, facts.size, facts.nextOffset)));
        }
        return new ToolResult(parts, facts, false, "ok", null);
    }

    /** What stands for a page without anything to be seen. */
    private static String blank(Page page) {
        if (page.bytes > 0) {
            return "(nothing but white space: %d bytes)".formatted(page.bytes);
        }
        return page.size == 0 ? "(empty file)" : "(end of file)";
    }

    /**
     * What programs are told.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param path as the caller wrote it
     * @param encoding {@code text}, {@code base64} or {@code image}
     * @param content null for a picture, which is in the content
     * @param mimeType of a picture
     * @param offset of the first byte
     * @param bytes how many these are
     * @param size of the whole file in bytes
     * @param nextOffset where to read on; null at the end
     * @param truncated whether there is more
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Page(
            String sandbox,
            String namespace,
            String path,
            String encoding,
            @Nullable String content,
            @Nullable String mimeType,
            long offset,
            long bytes,
            long size,
            @Nullable Long nextOffset,
            boolean truncated) {

        static Page of(SandboxRef ref, String path, String encoding, FilePage page, long end) {
            boolean more = end < page.size();
            return new Page(
                    ref.givenName(),
                    ref.tenant(),
                    path,
                    encoding,
                    null,
                    null,
                    page.offset(),
                    end - page.offset(),
                    page.size(),
                    more ? end : null,
                    more);
        }

        Page with(String text) {
            return new Page(sandbox, namespace, path, encoding, text, null, offset, bytes, size, nextOffset, truncated);
        }

        Page picture(String type) {
            return new Page(sandbox, namespace, path, encoding, null, type, offset, bytes, size, nextOffset, truncated);
        }

        static Map<String, Object> schema() {
            return Schema.object()
                    .required("sandbox", Schema.text("Name of the sandbox"))
                    .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                    .required("path", Schema.text("The file"))
                    .required(
                            "encoding",
                            Schema.text("What the content is")
                                    .with("enum", List.of(FileArguments.TEXT, FileArguments.BASE64, IMAGE)))
                    .required(
                            "content",
                            Schema.text("What was read; null for a picture").orNull())
                    .required("mime_type", Schema.text("Kind of picture").orNull())
                    .required("offset", Schema.integer("First byte of the content in the file"))
                    .required("bytes", Schema.integer("How many bytes of the file this is"))
                    .required("size", Schema.integer("Size of the whole file in bytes"))
                    .required(
                            "next_offset",
                            Schema.integer("Where to read on; null at the end").orNull())
                    .required("truncated", Schema.flag("There is more behind this"))
                    .keywords();
        }
    }
}
