package dev.sandglass.gateway.contract.sandglass.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.action.Interruption;
import dev.sandglass.gateway.action.SessionActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_interrupt}: ends what runs in a session, or one execution of whatever kind (contracts.md P11, P12).
 */
public final class InterruptTool implements SandglassTool {

    private static final String BY_ID = "execution_id";
    private static final int MAX_ID_CHARS = 1000;

    private final TenantAccess access;
    private final SessionActions sessions;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_interrupt",
            "Interrupt",
            """
            Interrupts what runs in a session now, as Control-C does; variables stay. If it does not react within 2 s, its \
            process is ended and variables are lost. With 'execution_id' it interrupts that one, also a command or \
            an installation.""",
            SessionArguments.addTo(SandboxArguments.schemaOfKnown())
                    .optional(BY_ID, Schema.text("Instead of all others"))
                    .keywords(),
            Done.schema(),
            ToolDefinition.Annotations.ENDS);

    public InterruptTool(TenantAccess access, SessionActions sessions) {
        this.access = access;
        this.sessions = sessions;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Optional<ExecutionId> id = id(call.arguments());
        if (id.isPresent() && !call.arguments().asks("sandbox")) {
            return interrupt(call, id.get());
        }
        SandboxRef ref = SandboxArguments.read(call, access);
        Session.Name name = SessionArguments.read(call.arguments());
        return id.map(execution -> sessions.interrupt(ref, execution).map(met -> answer(ref, null, met)))
                .orElseGet(() -> sessions.interrupt(ref, name).map(met -> answer(ref, name, met)));
    }

    /** The id says which sandbox it is. */
    private Mono<ToolResult> interrupt(ToolCall call, ExecutionId id) {
        TenantAccess.Tenant tenant = access.tenant(call.caller(), Optional.of(id.tenant()));
        return sessions.interrupt(tenant, id)
                .map(
                        found -> found.orElseThrow(
                                () -> new SandboxProblem.Refused(
                                        "The sandbox of this execution was deleted. It ended with that: nothing is to be interrupted.")))
                .map(found -> answer(found.sandbox(), null, found.met()));
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

    /** The answer; without a session if an execution was named. */
    private static ToolResult answer(SandboxRef ref, Session.@Nullable Name name, Interruption met) {
        String box = ref.givenName();
        String session = name == null ? "" : name.session();
        return switch (met) {
            case Interruption.Interrupted(ExecutionId id) ->
                Done.of(ref, name, "interrupted", List.of(id.toString()))
                        .say(("Interrupted %s; the call that waits for it gets what it printed so far."
                                        + " If it does not react within 2 s, its process is ended; sandbox_get_execution tells how it ended.")
                                .formatted(id));
            case Interruption.AlreadyEnded(ExecutionId id) ->
                Done.of(ref, name, "ended", List.of())
                        .say("%s had ended already: nothing to interrupt. sandbox_get_execution tells how."
                                .formatted(id));
            case Interruption.Idle _ ->
                Done.of(ref, name, "idle", List.of()).say("Nothing was running in session '%s'.".formatted(session));
            case Interruption.NoSession _ ->
                Done.of(ref, name, "unused", List.of())
                        .say("There is no session '%s' yet: nothing to interrupt.".formatted(session));
            case Interruption.OfAnotherSandbox _ ->
                throw new SandboxProblem.Refused(
                        "'execution_id' names an execution of another sandbox than '%s':".formatted(box)
                                + " sandbox_list with 'sandbox' tells the ids of one sandbox.");
            case Interruption.OfEarlierPod _ ->
                throw new SandboxProblem.Refused(
                        "'execution_id' names an execution of an earlier pod of sandbox '%s'.".formatted(box)
                                + " It ended with that pod: nothing is to be interrupted.");
        };
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

        static Done of(SandboxRef ref, Session.@Nullable Name name, String status, List<String> interrupted) {
            return new Done(
                    ref.givenName(),
                    ref.tenant(),
                    name == null ? null : name.language(),
                    name == null ? null : name.session(),
                    status,
                    interrupted);
        }

        ToolResult say(String text) {
            return ToolResult.ok(text, this);
        }

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
