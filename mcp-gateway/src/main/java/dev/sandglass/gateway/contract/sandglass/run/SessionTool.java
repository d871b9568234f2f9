package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.action.SessionActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_reset} and {@code sandbox_close_session}: what becomes of a session's variables (contracts.md I13, P9, P10,
 * P12).
 */
public final class SessionTool implements SandglassTool {

    private final Deed deed;
    private final TenantAccess access;
    private final SessionActions sessions;
    private final ToolDefinition definition;

    public SessionTool(Deed deed, TenantAccess access, SessionActions sessions) {
        this.deed = deed;
        this.access = access;
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
        return switch (deed) {
            case RESET -> sessions.reset(ref, name).map(was -> was ? reset(ref, name) : unused(ref, name));
            case CLOSE -> sessions.close(ref, name).map(was -> was ? closed(ref, name) : unused(ref, name));
        };
    }

    private static ToolResult reset(SandboxRef ref, Session.Name name) {
        String text =
                "Session '%s' is fresh: its variables are gone, files and packages are kept.".formatted(name.session());
        return answer(ref, name, "reset", text);
    }

    private static ToolResult closed(SandboxRef ref, Session.Name name) {
        String text = "Session '%s' is closed; its variables are gone, files are kept.".formatted(name.session());
        return answer(ref, name, "closed", text);
    }

    private ToolResult unused(SandboxRef ref, Session.Name name) {
        String text = "There is no session '%s' yet: nothing to %s.".formatted(name.session(), deed.word);
        return answer(ref, name, "unused", text);
    }

    private static ToolResult answer(SandboxRef ref, Session.Name name, String status, String text) {
        return ToolResult.ok(text, new Done(ref.givenName(), ref.tenant(), name.language(), name.session(), status));
    }

    /** What is done, and how clients are told of it. */
    public enum Deed {
        /** A fresh kernel. */
        RESET("reset", "sandbox_reset", "Reset a session", """
                Gives a session a fresh interpreter: variables and imports are gone, and programs that its code started; \
                files and packages stay."""),
        /** No kernel any more. */
        CLOSE("close", "sandbox_close_session", "Close a session", """
                Ends a session and frees its memory: variables are gone, and programs that its code started; files stay.""");

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
