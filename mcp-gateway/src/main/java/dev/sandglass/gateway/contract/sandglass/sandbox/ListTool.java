package dev.sandglass.gateway.contract.sandglass.sandbox;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.action.Overview;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.execution.KnownExecution;
import dev.sandglass.gateway.execution.SandboxContents;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** {@code sandbox_list}: the sandboxes of a tenant and their sessions (contracts.md P8); of one, its executions too. */
public final class ListTool implements SandglassTool {

    private static final String STATES = "running; starting: its pod is on the way; stopped: by sandbox_stop, until"
            + " sandbox_start; suspended: nobody used it, or it reached its maximum lifetime, and the next call that runs"
            + " code or uses files brings it back without its variables";
    private static final SandboxContents EMPTY = new SandboxContents(List.of(), List.of());

    private final TenantAccess access;
    private final Overview overview;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_list",
            "List sandboxes",
            """
            Lists your sandboxes, whether they run, and their sessions. With 'sandbox' that one and its newest executions: \
            there is the execution_id of a run whose answer was lost.""",
            SandboxQuery.schema("One sandbox; default all").keywords(),
            Listed.schema(),
            ToolDefinition.Annotations.READS);

    public ListTool(TenantAccess access, Overview overview, ToolSettings settings) {
        this.access = access;
        this.overview = overview;
        this.settings = settings;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        List<SandboxState> chosen = overview.find(SandboxQuery.read(call, access));
        boolean withExecutions = call.arguments().has("sandbox") && chosen.size() == 1;
        return overview.contents(chosen, settings.metricsWait())
                .map(answers -> new Listed(
                        answers.entries().stream()
                                .map(ListTool::entry)
                                .map(entry -> withExecutions ? entry : entry.withoutExecutions())
                                .toList(),
                        answers.truncated()))
                .map(answer -> ToolResult.ok(ListText.of(answer), answer));
    }

    private static Entry entry(Overview.Entry<SandboxContents> sandbox) {
        SandboxState state = sandbox.state();
        return switch (state) {
            case SandboxState.Running _ ->
                Entry.of(state, "running", sandbox.answer().orElse(null));
            case SandboxState.Pending _ -> Entry.of(state, "starting", EMPTY);
            case SandboxState.Stopped _ -> Entry.of(state, "stopped", EMPTY);
            case SandboxState.Asleep _ -> Entry.of(state, "suspended", EMPTY);
        };
    }

    private static @Nullable String detail(SandboxState state) {
        return switch (state) {
            case SandboxState.Running(RunningSandbox sandbox) ->
                sandbox.restarts().count() == 0 ? null : sandbox.restarts().why();
            case SandboxState.Pending pending -> pending.condition().orElse(null);
            case SandboxState.Asleep asleep -> asleep.reason();
            case SandboxState.Stopped _ -> null;
        };
    }

    /**
     * The whole answer.
     *
     * @param sandboxes in no particular order
     * @param truncated there are more than one answer tells of
     */
    record Listed(List<Entry> sandboxes, boolean truncated) {

        static Map<String, Object> schema() {
            Schema session = Schema.object()
                    .required("language", Schema.text("Language of the session"))
                    .required("session", Schema.text("Name of the session"))
                    .required("state", Schema.text("starting, idle, busy or dead"))
                    .required(
                            "uptime_s", Schema.number("Seconds since it began").orNull())
                    .required("executions", Schema.integer("How many ran since then"))
                    .required(
                            "python_env",
                            Schema.text("Environment of its interpreter; null: the sandbox's own")
                                    .orNull());
            Schema sandbox = Schema.object()
                    .required("namespace", Schema.text("Tenant"))
                    .required("name", Schema.text("Name of the sandbox"))
                    .required("state", Schema.text(STATES))
                    .required(
                            "detail",
                            Schema.text("Why it does not run, or why its container was restarted; null if there is"
                                            + " nothing to tell")
                                    .orNull())
                    .required(
                            "sessions",
                            Schema.list("Its sessions; null if it did not tell", session)
                                    .orNull())
                    .required(
                            "executions",
                            Schema.list(
                                            ("The newest %d, newest first; null if it did not tell, without 'sandbox', or if"
                                                            + " sandboxes of several tenants have that name")
                                                    .formatted(SandboxContents.MOST_EXECUTIONS),
                                            Run.schema())
                                    .orNull());
            return Schema.object()
                    .required("sandboxes", Schema.list("One entry for each sandbox", sandbox))
                    .required(
                            "truncated",
                            Schema.flag("There are more; only %d are told of".formatted(Overview.MOST_SANDBOXES)))
                    .keywords();
        }
    }

    /**
     * One sandbox.
     *
     * @param namespace its tenant
     * @param name as its maker wrote it
     * @param state one word
     * @param detail the cause of it, in the words of the resource; null if there is none
     * @param sessions null if it runs and did not tell in time
     * @param executions newest first; null if nobody asked, or it did not tell in time
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    record Entry(
            String namespace,
            String name,
            String state,
            @Nullable String detail,
            @Nullable List<Kernel> sessions,
            @Nullable List<Run> executions) {

        static Entry of(SandboxState state, String word, @Nullable SandboxContents contents) {
            return new Entry(
                    state.ref().tenant(),
                    state.ref().givenName(),
                    word,
                    ListTool.detail(state),
                    contents == null
                            ? null
                            : contents.sessions().stream().map(Kernel::of).toList(),
                    contents == null
                            ? null
                            : contents.executions().stream().map(Run::of).toList());
        }

        /** A thousand sandboxes with 64 each would be too long an answer. */
        Entry withoutExecutions() {
            return new Entry(namespace, name, state, detail, sessions, null);
        }
    }

    /**
     * One execution.
     *
     * @param executionId for sandbox_get_execution
     * @param state one word
     * @param kind one word
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Run(String executionId, String state, String kind) {

        static Schema schema() {
            return Schema.object()
                    .required("execution_id", Schema.text("For sandbox_get_execution and sandbox_interrupt"))
                    .required("state", Schema.text("queued, running or done"))
                    .required("kind", Schema.text("code, command or install"));
        }

        static Run of(KnownExecution execution) {
            return new Run(execution.id().toString(), execution.state(), execution.kind());
        }
    }

    /**
     * One session.
     *
     * @param language of its code
     * @param session its name
     * @param state one word
     * @param uptimeS seconds
     * @param executions how many ran
     * @param pythonEnv environment of its interpreter
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Kernel(
            String language,
            String session,
            String state,
            @Nullable Double uptimeS,
            long executions,
            @Nullable String pythonEnv) {

        static Kernel of(Session session) {
            return new Kernel(
                    session.name().language(),
                    session.name().session(),
                    session.state(),
                    session.uptimeSeconds(),
                    session.executions(),
                    session.pythonEnv());
        }
    }
}
