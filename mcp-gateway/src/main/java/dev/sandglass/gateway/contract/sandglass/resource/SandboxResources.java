package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.action.FileActions;
import dev.sandglass.gateway.action.Resumed;
import dev.sandglass.gateway.action.RunningFolders;
import dev.sandglass.gateway.action.Used;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.ResourceProblem;
import dev.sandglass.gateway.contract.Resources;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.NextSteps;
import dev.sandglass.gateway.contract.sandglass.sandbox.ResumeNotice;
import dev.sandglass.gateway.file.FileFacts;
import dev.sandglass.gateway.file.FilePage;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/** The files in the workspaces of sandboxes as resources. */
public final class SandboxResources implements Resources {

    private static final List<Template> TEMPLATES = List.of(new Template(
            SandboxUri.TEMPLATE, "sandbox_file", "File of a sandbox", """
                    A file of a sandbox, by its path relative to /workspace. At most %d bytes; sandbox_read_file reads larger \
                    files in parts. Reading resumes a suspended sandbox.""".formatted(SandboxFiles.MOST_BYTES)));

    private final TenantAccess access;
    private final FileActions files;
    private final RunningFolders folders;
    private final ToolSettings settings;

    /** The resources over these use cases, for callers with that access. */
    public SandboxResources(TenantAccess access, FileActions files, RunningFolders folders, ToolSettings settings) {
        this.access = access;
        this.files = files;
        this.folders = folders;
        this.settings = settings;
    }

    @Override
    public List<Template> templates() {
        return TEMPLATES;
    }

    /** The files at the top of the workspaces that run; what does not answer in time is left out. */
    @Override
    public Mono<Page> list(Caller caller, Optional<String> cursor) {
        return Mono.fromSupplier(() -> cursor.map(ListCursor::parse))
                .flatMap(after -> folders.workspaces(access.visible(caller), after, settings.metricsWait()))
                .map(SandboxResources::page);
    }

    private static Page page(RunningFolders.Page found) {
        List<Listed> listed =
                found.workspaces().stream().flatMap(SandboxResources::listed).toList();
        return new Page(listed, found.last().map(ListCursor::text));
    }

    private static Stream<Listed> listed(RunningFolders.Workspace workspace) {
        SandboxRef sandbox = workspace.sandbox();
        return workspace.files().stream().flatMap(file -> listed(sandbox, file).stream());
    }

    /** Empty for a name that no URI can have. */
    private static Optional<Listed> listed(SandboxRef sandbox, FileFacts file) {
        String name = ForeignText.name(file.path());
        return SandboxUri.of(sandbox.tenant(), sandbox.givenName(), file.path())
                .map(uri -> new Listed(
                        uri.text(),
                        name,
                        "%s in sandbox %s (%s)".formatted(name, sandbox.givenName(), sandbox.tenant()),
                        MediaTypes.promised(file.path()).orElse(null),
                        file.size(),
                        file.modified()));
    }

    @Override
    public Optional<Subject> subject(String uri) {
        try {
            SandboxUri parsed = SandboxUri.parse(uri);
            return Optional.of(new Subject(parsed.namespace(), parsed.sandbox(), parsed.path()));
        } catch (InvalidArgument | InvalidNameException | ResourceProblem _) {
            return Optional.empty();
        }
    }

    @Override
    public Mono<Content> read(Request request) {
        return Mono.defer(() -> {
                    SandboxUri uri = SandboxUri.parse(request.uri());
                    SandboxRef ref = sandbox(request.caller(), uri);
                    var whole = new FileActions.Part(uri.filePath(), 0, SandboxFiles.MOST_BYTES);
                    return files.read(ref, whole, request.patience(settings.startWait()))
                            .map(used -> content(uri, used));
                })
                .onErrorMap(SandboxProblem.class, problem -> problem(problem, words(problem)));
    }

    /** A namespace that there is not makes a resource that there is not. */
    private SandboxRef sandbox(Caller caller, SandboxUri uri) {
        try {
            return access.sandbox(caller, Optional.of(uri.namespace()), uri.sandbox());
        } catch (SandboxProblem noSuchTenant) {
            throw ResourceProblem.unknown(words(noSuchTenant));
        }
    }

    private static String words(SandboxProblem problem) {
        return NextSteps.told(problem);
    }

    private static RuntimeException problem(SandboxProblem problem, String words) {
        return switch (problem) {
            case SandboxProblem.NotFound _, SandboxProblem.NoSuchFile _ -> ResourceProblem.unknown(words);
            case SandboxProblem.Refused _ -> new InvalidArgument(words);
            default -> ResourceProblem.unavailable(words);
        };
    }

    private static Content content(SandboxUri uri, Used<FilePage> used) {
        return switch (used) {
            case Used.Done<FilePage>(FilePage page, var _) -> content(uri, page);
            case Used.Refused<FilePage>(SandboxProblem.Refused refused, Resumed resumed) ->
                throw problem(refused, words(refused) + " " + ResumeNotice.of(resumed.reason()));
        };
    }

    private static Content content(SandboxUri uri, FilePage page) {
        if (!page.isWhole()) {
            throw new InvalidArgument(
                    "%s has %d bytes, and a resource at most %d: read it in parts with sandbox_read_file and its 'offset'"
                            .formatted(ForeignText.quoted(uri.path()), page.size(), SandboxFiles.MOST_BYTES));
        }
        return MediaTypes.content(uri.path(), page);
    }
}
