package dev.sandglass.gateway.contract.sandglass.file;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.FileActions;
import dev.sandglass.gateway.action.Patience;
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
import dev.sandglass.gateway.file.FileFacts;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code sandbox_manage_files}: folders made, files moved, deleted and looked at. */
public final class ManageFilesTool implements SandglassTool {

    private static final String MKDIR = "mkdir";
    private static final String MOVE = "move";
    private static final String DELETE = "delete";
    private static final String STAT = "stat";
    private static final List<String> ACTIONS = List.of(MKDIR, MOVE, DELETE, STAT);
    private static final int MAX_WORD_CHARS = 100;

    private final TenantAccess access;
    private final FileActions files;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_manage_files",
            "Manage files",
            """
            Makes a folder and those on the way ('mkdir'), moves or renames to a free path ('move'), deletes ('delete') or \
            describes ('stat') a file or folder.""",
            SandboxArguments.schema()
                    .required("action", Schema.ofType("string").with("enum", ACTIONS))
                    .required("path", FileArguments.path("The file or folder"))
                    .optional("to", Schema.text("For 'move': the new path"))
                    .optional("recursive", Schema.flag("For 'delete': with all that is in the folder"))
                    .keywords(),
            Done.schema(),
            ToolDefinition.Annotations.WRITES);

    public ManageFilesTool(TenantAccess access, FileActions files, ToolSettings settings) {
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
        String action = arguments.requiredText("action", MAX_WORD_CHARS);
        String path = FileArguments.path(arguments, "path");
        only(arguments, "to", action.equals(MOVE), MOVE);
        only(arguments, "recursive", action.equals(DELETE), DELETE);
        Patience patience = call.patience(settings.startWait());
        return switch (action) {
            case MKDIR ->
                files.makeFolder(ref, path, patience)
                        .map(used -> ResumeNotice.added(used, created -> made(ref, path, created)));
            case MOVE -> {
                String to = FileArguments.path(arguments, "to");
                yield files.move(ref, path, to, patience)
                        .map(used -> ResumeNotice.added(used, newPath -> moved(ref, path, newPath)));
            }
            case DELETE ->
                files.delete(ref, path, arguments.flag("recursive"), patience)
                        .map(used -> ResumeNotice.added(used, deleted -> deleted(ref, path, deleted)));
            case STAT ->
                files.stat(ref, path, patience).map(used -> ResumeNotice.added(used, file -> found(ref, path, file)));
            default -> throw new InvalidArgument("'action' must be one of " + String.join(", ", ACTIONS));
        };
    }

    private static void only(Arguments arguments, String field, boolean fits, String action) {
        if (!fits && arguments.asks(field)) {
            throw new InvalidArgument("'%s' goes with action '%s' only".formatted(field, action));
        }
    }

    private static ToolResult made(SandboxRef ref, String path, boolean created) {
        return created
                ? Done.of(ref, MKDIR, path, "created").say("Made folder %s.".formatted(ForeignText.quoted(path)))
                : Done.of(ref, MKDIR, path, "exists")
                        .say("There is a folder %s already.".formatted(ForeignText.quoted(path)));
    }

    private static ToolResult moved(SandboxRef ref, String path, String to) {
        return Done.of(ref, MOVE, path, "moved")
                .say("Moved %s to %s.".formatted(ForeignText.quoted(path), ForeignText.quoted(to)));
    }

    private static ToolResult deleted(SandboxRef ref, String path, SandboxFiles.Deleted deleted) {
        return deleted.done()
                ? Done.of(ref, DELETE, path, "deleted")
                        .with(deleted.count())
                        .say("Deleted %s: %d files and folders.".formatted(ForeignText.quoted(path), deleted.count()))
                : Done.of(ref, DELETE, path, "unfinished")
                        .with(deleted.count())
                        .say("Deleted %d files and folders of %s so far; make the same call again for the rest."
                                .formatted(deleted.count(), ForeignText.quoted(path)));
    }

    private static ToolResult found(SandboxRef ref, String path, FileFacts file) {
        return Done.of(ref, STAT, path, "found")
                .with(Facts.of(file))
                .say("%s is a %s%s%s, modified %s, mode %s."
                        .formatted(
                                ForeignText.quoted(path),
                                file.type().equals("other") ? "pipe, socket or device" : file.type(),
                                file.size() == null ? "" : " of " + file.size() + " bytes",
                                file.target() == null ? "" : " to " + ForeignText.quoted(file.target()),
                                file.modified(),
                                file.mode()));
    }

    /**
     * What programs are told.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param action what was asked for
     * @param path as the caller wrote it
     * @param status what became of it
     * @param deleted files and folders that are gone; null for other actions
     * @param file what is there; null for other actions than {@code stat}
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    record Done(
            String sandbox,
            String namespace,
            String action,
            String path,
            String status,
            @Nullable Long deleted,
            @Nullable Facts file) {

        static Done of(SandboxRef ref, String action, String path, String status) {
            return new Done(ref.givenName(), ref.tenant(), action, path, status, null, null);
        }

        Done with(long count) {
            return new Done(sandbox, namespace, action, path, status, count, file);
        }

        Done with(Facts facts) {
            return new Done(sandbox, namespace, action, path, status, deleted, facts);
        }

        ToolResult say(String text) {
            return ToolResult.ok(text, this);
        }

        static Map<String, Object> schema() {
            Schema file = Schema.object()
                    .orNull()
                    .required("type", Schema.text("file, folder, link or other"))
                    .required("size", Schema.integer("Bytes; of files only").orNull())
                    .required("modified", Schema.text("When its content changed last, ISO 8601 in UTC"))
                    .required("mode", Schema.text("Permissions in octal").orNull())
                    .required("target", Schema.text("What a link says").orNull());
            return Schema.object()
                    .required("sandbox", Schema.text("Name of the sandbox"))
                    .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                    .required("action", Schema.text("What was asked for").with("enum", ACTIONS))
                    .required("path", Schema.text("The file or folder"))
                    .required(
                            "status",
                            Schema.text("What became of it")
                                    .with(
                                            "enum",
                                            List.of("created", "exists", "moved", "deleted", "unfinished", "found")))
                    .required(
                            "deleted",
                            Schema.integer("Files and folders that are gone").orNull())
                    .required("file", file.with("description", "What 'stat' found"))
                    .optional(ToolResult.WARNING, Schema.text("What a caller has to know besides; left out if nothing"))
                    .keywords();
        }
    }

    /**
     * What {@code stat} found.
     *
     * @param type one word
     * @param size bytes
     * @param modified ISO 8601
     * @param mode octal
     * @param target of a link
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    record Facts(
            String type,
            @Nullable Long size,
            String modified,
            @Nullable String mode,
            @Nullable String target) {

        static Facts of(FileFacts file) {
            return new Facts(file.type(), file.size(), file.modified().toString(), file.mode(), file.target());
        }
    }
}
