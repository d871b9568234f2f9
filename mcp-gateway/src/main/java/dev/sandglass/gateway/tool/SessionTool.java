package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_reset} and {@code sandbox_close_session}: what becomes of a session's variables (contracts.md I13, P9, P10,
 * P12).
 */
final class SessionTool implements Tool {

    private final Deed deed;
    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Sessions sessions;
    private final ToolDefinition definition;

    SessionTool(Deed deed, TenantAccess access, Sandboxes sandboxes, Sessions sessions) {
        this.deed = deed;
        this.access = access;
        this.sandboxes = sandboxes;
        this.sessions = sessions;
        this.definition = new ToolDefinition(
                deed.tool,
                deed.title,
                deed.description,
                SessionArguments.addTo(SandboxArguments.schema()).keywords(),
                Done.schema(),
                ToolDefinition.Annotations.ENDS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.read(call, access);
        Session.Name name = SessionArguments.read(call.arguments());
        return sandboxes.running(ref).flatMap(sandbox -> {
            sandboxes.active(sandbox, Duration.ZERO);
            return done(sandbox, name);
        });
    }

    private Mono<ToolResult> done(RunningSandbox sandbox, Session.Name name) {
        return switch (deed) {
            case RESET -> sessions.reset(sandbox, name).map(was -> was ? reset(sandbox, name) : unused(sandbox, name));
            case CLOSE -> sessions.close(sandbox, name).map(was -> was ? closed(sandbox, name) : unused(sandbox, name));
        };
    }

    private static ToolResult reset(RunningSandbox sandbox, Session.Name name) {
        String text =
                "Session '%s' is fresh: its variables are gone, files and packages are kept.".formatted(name.session());
        return answer(sandbox, name, "reset", text);
    }

    private static ToolResult closed(RunningSandbox sandbox, Session.Name name) {
        String text = "Session '%s' is closed; its variables are gone, files are kept.".formatted(name.session());
        return answer(sandbox, name, "closed", text);
    }

    private ToolResult unused(RunningSandbox sandbox, Session.Name name) {
        String text = "There is no session '%s' yet: nothing to %s.".formatted(name.session(), deed.word);
        return answer(sandbox, name, "unused", text);
    }

    private static ToolResult answer(RunningSandbox sandbox, Session.Name name, String status, String text) {
        return ToolResult.ok(
                text,
                new Done(sandbox.ref().givenName(), sandbox.ref().tenant(), name.language(), name.session(), status));
    }

    /** What is done, and how clients are told of it. */
    enum Deed {
        /** A fresh kernel. */
        RESET("reset", "sandbox_reset", "Reset a session", """
                Gives a session of a sandbox a fresh interpreter: variables and imports are gone, what runs is ended, \
                with all programs that code in the session started; files and installed packages are kept."""),
        /** No kernel any more. */
        CLOSE("close", "sandbox_close_session", "Close a session", """
                Ends a session of a sandbox and frees its memory: variables are gone, what runs is ended, with all \
                programs that code in the session started; files are kept. Its name can be used again.""");

        private final String word;
        private final String tool;
        private final String title;
        private final String description;

        Deed(String word, String tool, String title, String description) {
            this.word = word;
            this.tool = tool;
            this.title = title;
            this.description = description;
        }
    }

    /**
     * What programs are told.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param language of the session
     * @param session its name
     * @param status what became of it; the executions that this ended tell it themselves
     */
    record Done(String sandbox, String namespace, String language, String session, String status) {

        static Map<String, Object> schema() {
            return Schema.object()
                    .required("sandbox", Schema.text("Name of the sandbox"))
                    .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                    .required("language", Schema.text("Language of the session"))
                    .required("session", Schema.text("Name of the session"))
                    .required(
                            "status",
                            Schema.text("What became of it").with("enum", List.of("reset", "unused", "closed")))
                    .keywords();
        }
    }
}
