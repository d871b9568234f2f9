package dev.sandglass.gateway.contract.sandglass.file;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.FileActions;
import dev.sandglass.gateway.action.FileContent;
import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.ResumeNotice;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.file.FilePage;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** {@code sandbox_read_file}: a page of text, a picture, or bytes (contracts.md O12). */
public final class ReadFileTool implements SandglassTool {

    /** Room for one character, however long. */
    private static final int LEAST_LENGTH = 4;

    private static final int LENGTH = 32 * 1024;

    /** Models' endpoints refuse a longer one, together with the whole conversation. */
    private static final int MOST_SIDE = 8000;

    /** Bytes that stand in base64 in the text as well as in the data of one answer: 64 KiB of base64. */
    private static final int MOST_TWICE = 48 * 1024;

    private static final String IMAGE = "image";

    private final TenantAccess access;
    private final FileActions files;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
                    "sandbox_read_file",
                    "Read a file",
                    """
            Reads a file: text page by page, pictures to look at, anything else with encoding 'base64'.""",
                    SandboxArguments.schema()
                            .required("path", FileArguments.path("The file"))
                            .optional("encoding", FileArguments.encoding("Default: a picture as a picture, else text"))
                            .optional("offset", Schema.integer("First byte, default 0"))
                            .optional(
                                    "length",
                                    Schema.integer("Most bytes, default %d, at most %d"
                                            .formatted(LENGTH, SandboxFiles.MOST_BYTES)))
                            .keywords(),
                    Page.schema(),
                    ToolDefinition.Annotations.READS)
            .withLongAnswers();

    public ReadFileTool(TenantAccess access, FileActions files, ToolSettings settings) {
        this.access = access;
        this.files = files;
        this.settings = settings;
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
        var part = new FileActions.Part(path, offset, length);
        Patience patience = call.patience(settings.startWait());
        if (encoding.isEmpty()) {
            return files.view(ref, part, patience)
                    .map(used -> ResumeNotice.added(used, content -> seen(ref, path, content)));
        }
        boolean asBase64 = encoding.get().equals(FileArguments.BASE64);
        return files.read(ref, part, patience)
                .map(used ->
                        ResumeNotice.added(used, page -> asBase64 ? base64(ref, path, page) : text(ref, path, page)));
    }

    private static ToolResult seen(SandboxRef ref, String path, FileContent content) {
        return switch (content) {
            case FileContent.Page(FilePage page) -> text(ref, path, page);
            case FileContent.Picture(FilePage page) -> shown(ref, path, page);
            case FileContent.LargePicture(long size) ->
                throw new InvalidArgument(
                        "%s is a picture of %d bytes, and at most %d are shown: make it smaller in the sandbox, or read it in pieces with encoding 'base64'"
                                .formatted(ForeignText.quoted(path), size, SandboxFiles.MOST_BYTES));
        };
    }

    private static ToolResult shown(SandboxRef ref, String path, FilePage page) {
        String type = page.pictureType()
                .filter(any -> page.isWhole())
                .orElseThrow(() -> new InvalidArgument(
                        "%s changed while it was read; try again".formatted(ForeignText.quoted(path))));
        // A camera's JPEG says its sides only behind its preview, so that the first page would not do.
        long side = page.longerSide()
                .orElseThrow(() -> new InvalidArgument(
                        "%s begins as a picture (%s) and does not say its width and height: it is cut off or damaged, and no model could look at it; read it with encoding 'base64'"
                                .formatted(ForeignText.quoted(path), type)));
        if (side > MOST_SIDE) {
            throw new InvalidArgument(
                    "%s is a picture whose longer side has %d pixels, and at most %d are shown: make it smaller in the sandbox, or read it with encoding 'base64'"
                            .formatted(ForeignText.quoted(path), side, MOST_SIDE));
        }
        return new ToolResult(
                List.of(
                        new ToolResult.Content.Text(
                                FencedText.of("", List.of("[Picture: %s, %d bytes]".formatted(type, page.size())))),
                        new ToolResult.Content.Image(type, page.base64())),
                Page.of(ref, path, IMAGE, page, page.end()).picture(type),
                false,
                "ok",
                null);
    }

    private static ToolResult base64(SandboxRef ref, String path, FilePage page) {
        Page facts = Page.of(ref, path, FileArguments.BASE64, page, page.end()).with(page.bytes());
        if (facts.bytes <= MOST_TWICE) {
            return answer(page.base64(), facts);
        }
        String brief = "[base64: the data has these %d bytes]".formatted(facts.bytes);
        return new ToolResult(
                List.of(new ToolResult.Content.LongText(
                        () -> FencedText.of(page.base64(), List.of(more(facts))),
                        FencedText.of("", List.of(brief, more(facts))))),
                facts,
                false,
                "ok",
                null);
    }

    private static ToolResult text(SandboxRef ref, String path, FilePage page) {
        return switch (page.text()) {
            case FilePage.Text.Some(String text, long end) ->
                answer(text, Page.of(ref, path, FileArguments.TEXT, page, end).with(text));
            case FilePage.Text.Inside(long next) ->
                throw new InvalidArgument("'offset' %d of %s is inside a character; the next one begins at %d"
                        .formatted(page.offset(), ForeignText.quoted(path), next));
            case FilePage.Text.None(long at) ->
                throw new InvalidArgument("%s is not UTF-8 text (at byte %d); read it with encoding 'base64'"
                        .formatted(ForeignText.quoted(path), at));
        };
    }

    private static ToolResult answer(String content, Page facts) {
        return ToolResult.ok(
                FencedText.of(ToolResult.isBlank(content) ? blank(facts) : content, List.of(more(facts))), facts);
    }

    private static String more(Page facts) {
        return facts.truncated
                ? "[truncated: bytes %d to %d of %d] Read on with offset %d."
                        .formatted(facts.offset, facts.nextOffset, facts.size, facts.nextOffset)
                : "";
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
     * @param content a text, or bytes, which JSON has in base64; null for a picture, which is in the content
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
            @Nullable Object content,
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

        Page with(Object content) {
            return new Page(
                    sandbox, namespace, path, encoding, content, null, offset, bytes, size, nextOffset, truncated);
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
                    .optional(ToolResult.WARNING, Schema.text("What a caller has to know besides; left out if nothing"))
                    .keywords();
        }
    }
}
