package dev.sandglass.gateway.tool;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_interrupt}: ends what runs in a session, or one execution of whatever kind (contracts.md P11, P12).
 */
final class InterruptTool implements Tool {

    private static final String BY_ID = "execution_id";
    private static final int MAX_ID_CHARS = 1000;

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Sessions sessions;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_interrupt",
            "Interrupt what runs",
            """
            Interrupts the code that runs in a session of a sandbox now, as Control-C would; variables are kept, and what \
            waits behind it runs next. If it does not react within 2 s, its process is ended: variables are lost then, and \
            what waited does not run. With 'execution_id' it interrupts that execution instead: a command, an \
            installation, or code in whatever session, also if it still waits.""",
            SessionArguments.addTo(SandboxArguments.schema())
                    .optional(
                            BY_ID,
                            Schema.text(
                                            "What to interrupt, as an earlier answer or sandbox_list gave it; not together with"
                                                    + " 'session' or 'language'")
                                    .maxLength(ExecutionId.MAX_LENGTH))
                    .keywords(),
            Done.schema(),
            ToolDefinition.Annotations.ENDS);

    InterruptTool(TenantAccess access, Sandboxes sandboxes, Sessions sessions) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.sessions = sessions;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.read(call, access);
        Optional<ExecutionId> id = id(call.arguments());
        Session.Name name = SessionArguments.read(call.arguments());
        return sandboxes.running(ref).flatMap(sandbox -> {
            sandboxes.active(sandbox, Duration.ZERO);
            return id.map(execution -> interrupt(sandbox, execution)).orElseGet(() -> interrupt(sandbox, name));
        });
    }

    private static Optional<ExecutionId> id(Arguments arguments) {
        Optional<String> given = arguments.text(BY_ID, MAX_ID_CHARS);
        if (given.isPresent() && (arguments.asks("session") || arguments.asks("language"))) {
            throw new InvalidArgument(
                    "'execution_id' names one execution and 'session' with 'language' whatever runs there:"
                            + " give only the one or the others");
        }
        return given.map(ExecutionArguments::executionId);
    }

    private Mono<ToolResult> interrupt(RunningSandbox sandbox, ExecutionId id) {
        String box = sandbox.ref().givenName();
        if (!id.tenant().equals(sandbox.ref().tenant()) || !id.sandboxUid().equals(sandbox.uid())) {
            throw new SandboxProblem.Refused(
                    "'execution_id' names an execution of another sandbox than '%s':".formatted(box)
                            + " sandbox_list with 'sandbox' tells the ids of one sandbox.");
        }
        if (!id.isOf(sandbox)) {
            throw new SandboxProblem.Refused(
                    "'execution_id' names an execution of an earlier pod of sandbox '%s'.".formatted(box)
                            + " It ended with that pod: nothing is to be interrupted.");
        }
        return sessions.interrupt(sandbox, id).map(done -> done ? interrupted(sandbox, null, id) : ended(sandbox, id));
    }

    private Mono<ToolResult> interrupt(RunningSandbox sandbox, Session.Name name) {
        return sessions.interrupt(sandbox, name).map(what -> {
            if (!what.known()) {
                String text = "There is no session '%s' yet: nothing to interrupt.".formatted(name.session());
                return answer(sandbox, name, "unused", null, text);
            }
            return what.executions().stream()
                    .findFirst()
                    .map(id -> interrupted(sandbox, name, id))
                    .orElseGet(() -> answer(
                            sandbox,
                            name,
                            "idle",
                            null,
                            "Nothing was running in session '%s'.".formatted(name.session())));
        });
    }

    private static ToolResult interrupted(RunningSandbox sandbox, Session.@Nullable Name name, ExecutionId id) {
        // Whether it reacts is known only later.
        String text = ("Interrupted %s; the call that waits for it gets what it printed so far."
                        + " If it does not react within 2 s, its process is ended; sandbox_get_execution tells how it ended.")
                .formatted(id);
        return answer(sandbox, name, "interrupted", id, text);
    }

    private static ToolResult ended(RunningSandbox sandbox, ExecutionId id) {
        String text = "%s had ended already: nothing to interrupt. sandbox_get_execution tells how.".formatted(id);
        return answer(sandbox, null, "ended", null, text);
    }

    private static ToolResult answer(
            RunningSandbox sandbox,
            Session.@Nullable Name name,
            String status,
            @Nullable ExecutionId interrupted,
            String text) {
        return ToolResult.ok(
                text,
                new Done(
                        sandbox.ref().givenName(),
                        sandbox.ref().tenant(),
                        name == null ? null : name.language(),
                        name == null ? null : name.session(),
                        status,
                        interrupted == null ? List.of() : List.of(interrupted.toString())));
    }

    /**
     * What programs are told.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param language of the session; null if an execution was named
     * @param session its name; null if an execution was named
     * @param status what became of it
     * @param interrupted the executions that were
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    record Done(
            String sandbox,
            String namespace,
            @Nullable String language,
            @Nullable String session,
            String status,
            List<String> interrupted) {

        static Map<String, Object> schema() {
            return Schema.object()
                    .required("sandbox", Schema.text("Name of the sandbox"))
                    .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                    .required(
                            "language",
                            Schema.text("Language of the session; null with 'execution_id'")
                                    .orNull())
                    .required(
                            "session",
                            Schema.text("Name of the session; null with 'execution_id'")
                                    .orNull())
                    .required(
                            "status",
                            Schema.text("What became of it")
                                    .with("enum", List.of("interrupted", "idle", "unused", "ended")))
                    .required(
                            "interrupted",
                            Schema.list("Ids of the executions that were interrupted", Schema.text("Execution id")))
                    .keywords();
        }
    }
}
