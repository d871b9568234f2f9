package dev.sandglass.gateway.contract.sandglass.file;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.FileActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.ResumeNotice;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code sandbox_write_file}: a whole file, or a piece of one (contracts.md O11). */
public final class WriteFileTool implements SandglassTool {

    /** So many bytes in base64, with room for line breaks. */
    private static final int MAX_CONTENT_CHARS = SandboxFiles.MOST_BYTES * 3 / 2;

    private final TenantAccess access;
    private final FileActions files;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_write_file",
            "Write a file",
            """
            Writes a file, and makes the folders on the way. Without 'offset' the content replaces the whole file. More \
            than 1 MiB goes in pieces: the first without 'offset', each other one with 'offset' = the size so far.""",
            SandboxArguments.schema()
                    .required("path", FileArguments.path("The file"))
                    .required("content", Schema.text("At most %d bytes".formatted(SandboxFiles.MOST_BYTES)))
                    .optional("encoding", FileArguments.encoding("Of 'content'; default text"))
                    .optional("offset", Schema.integer("Byte at which this piece goes"))
                    .keywords(),
            Written.schema(),
            ToolDefinition.Annotations.WRITES);

    public WriteFileTool(TenantAccess access, FileActions files, ToolSettings settings) {
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
        String encoding = FileArguments.encoding(arguments).orElse(FileArguments.TEXT);
        byte[] content = FileArguments.bytes(arguments.requiredText("content", MAX_CONTENT_CHARS), encoding);
        if (content.length > SandboxFiles.MOST_BYTES) {
            throw new InvalidArgument(
                    "'content' must have at most %d bytes, has %d; write it in pieces, each but the first with 'offset'"
                            .formatted(SandboxFiles.MOST_BYTES, content.length));
        }
        @Nullable Long offset = arguments.has("offset") ? Long.valueOf(arguments.offset("offset")) : null;
        return files.write(ref, path, offset, content, call.patience(settings.startWait()))
                .map(used -> ResumeNotice.added(
                        used,
                        size -> ToolResult.ok(
                                "Wrote %d bytes to %s; its size is %d bytes."
                                        .formatted(content.length, ForeignText.quoted(path), size),
                                new Written(ref.givenName(), ref.tenant(), path, content.length, size))));
    }

    /**
     * What programs are told.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param path as the caller wrote it
     * @param bytes that were written
     * @param size of the whole file then, in bytes
     */
    record Written(String sandbox, String namespace, String path, long bytes, long size) {

        static Map<String, Object> schema() {
            return Schema.object()
                    .required("sandbox", Schema.text("Name of the sandbox"))
                    .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                    .required("path", Schema.text("The file"))
                    .required("bytes", Schema.integer("How many bytes were written"))
                    .required("size", Schema.integer("Size of the whole file now, in bytes"))
                    .optional(ToolResult.WARNING, Schema.text("What a caller has to know besides; left out if nothing"))
                    .keywords();
        }
    }
}
