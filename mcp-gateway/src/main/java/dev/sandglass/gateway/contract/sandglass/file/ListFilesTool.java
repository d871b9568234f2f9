package dev.sandglass.gateway.contract.sandglass.file;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.FileActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.ResumeNotice;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.file.FileFacts;
import dev.sandglass.gateway.file.FileList;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code sandbox_list_files}: what is in a folder. */
public final class ListFilesTool implements SandglassTool {

    private static final int LIMIT = 1000;

    private final TenantAccess access;
    private final FileActions files;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_list_files",
            "List files",
            """
            Lists a folder: names and sizes.""",
            SandboxArguments.schema()
                    .optional("path", Schema.text("Default /workspace"))
                    .optional("recursive", Schema.flag("With all folders below"))
                    .optional(
                            "limit",
                            Schema.integer(
                                    "Most entries, default %d, at most %d".formatted(LIMIT, SandboxFiles.MOST_ENTRIES)))
                    .keywords(),
            Listed.schema(),
            ToolDefinition.Annotations.READS);

    public ListFilesTool(TenantAccess access, FileActions files, ToolSettings settings) {
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
        String path = FileArguments.folder(arguments);
        boolean recursive = arguments.flag("recursive");
        int limit = arguments.integer("limit", 1, SandboxFiles.MOST_ENTRIES).orElse(LIMIT);
        return files.list(ref, path, recursive, limit, call.patience(settings.startWait()))
                .map(used -> ResumeNotice.added(used, list -> ToolResult.ok(text(list), Listed.of(ref, path, list))));
    }

    private static String text(FileList list) {
        String lines = list.entries().stream().map(ListFilesTool::line).collect(Collectors.joining("\n"));
        String text = lines.isEmpty() ? "(empty folder)" : lines;
        String more = list.truncated()
                ? "[truncated] There is more: list a folder below this one, or give a higher 'limit'."
                : "";
        return FencedText.of(text, List.of(more));
    }

    private static String line(FileFacts file) {
        String path = ForeignText.name(file.path());
        return switch (file.type()) {
            case "folder" -> path + "/";
            case "file" -> "%s (%d bytes)".formatted(path, file.size());
            default -> "%s (%s)".formatted(path, file.type());
        };
    }

    /**
     * What programs are told.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param path as the caller wrote it; empty = the workspace
     * @param entries in the order of their paths
     * @param truncated there is more
     */
    record Listed(String sandbox, String namespace, String path, List<Entry> entries, boolean truncated) {

        static Listed of(SandboxRef ref, String path, FileList list) {
            List<Entry> entries = list.entries().stream()
                    .map(file -> new Entry(
                            file.path(),
                            file.type(),
                            file.size(),
                            file.modified().toString()))
                    .toList();
            return new Listed(ref.givenName(), ref.tenant(), path, entries, list.truncated());
        }

        static Map<String, Object> schema() {
            Schema entry = Schema.object()
                    .required("path", Schema.text("Relative to the folder that is listed"))
                    .required("type", Schema.text("file, folder, link or other"))
                    .required("size", Schema.integer("Bytes; of files only").orNull())
                    .required("modified", Schema.text("When its content changed last, ISO 8601 in UTC"));
            return Schema.object()
                    .required("sandbox", Schema.text("Name of the sandbox"))
                    .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                    .required("path", Schema.text("The folder; empty = /workspace"))
                    .required("entries", Schema.list("In the order of their paths", entry))
                    .required("truncated", Schema.flag("There is more than this tells of"))
                    .optional(ToolResult.WARNING, Schema.text("What a caller has to know besides; left out if nothing"))
                    .keywords();
        }
    }

    /**
     * One file or folder.
     *
     * @param path relative to the folder that is listed
     * @param type one word
     * @param size bytes
     * @param modified ISO 8601
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    record Entry(String path, String type, @Nullable Long size, String modified) {}
}
