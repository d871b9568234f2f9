package dev.sandglass.gateway.tool;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;
import tools.jackson.databind.json.JsonMapper;

/** {@code sandbox_list}: the sandboxes of a tenant and their sessions (contracts.md P8). */
final class ListTool implements Tool {

    /** Asked at the same time; each answer is one small message. */
    private static final int FAN_OUT = 64;

    private static final int MOST_SANDBOXES = 1000;
    private static final int MAX_NAME_CHARS = 1000;

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Sessions sessions;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "sandbox_list",
            "List sandboxes",
            """
            Lists your sandboxes, whether they run, and the sessions in them: what each is doing, for how long it has been \
            there and how much ran in it.""",
            Schema.object()
                    .optional("namespace", SandboxArguments.name("Tenant; your own if left out"))
                    .keywords(),
            Listed.schema(),
            ToolDefinition.Annotations.READS);
    private final JsonMapper json = JsonMapper.shared();

    ListTool(TenantAccess access, Sandboxes sandboxes, Sessions sessions, ToolSettings settings) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.sessions = sessions;
        this.settings = settings;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        TenantAccess.Tenant tenant =
                access.tenant(call.caller(), call.arguments().text("namespace", MAX_NAME_CHARS));
        List<SandboxState> known = sandboxes.list(tenant.name(), tenant.namespace());
        return Flux.fromIterable(known)
                .take(MOST_SANDBOXES)
                .flatMapSequential(this::entry, FAN_OUT)
                .collectList()
                .map(entries -> new Listed(entries, known.size() > MOST_SANDBOXES))
                .map(listed ->
                        ToolResult.ok(json.writerWithDefaultPrettyPrinter().writeValueAsString(listed), listed));
    }

    private Mono<Entry> entry(SandboxState state) {
        return switch (state) {
            case SandboxState.Running(RunningSandbox sandbox) ->
                sessions.list(sandbox)
                        .map(known -> Entry.of(sandbox.ref(), "running", known))
                        .timeout(settings.metricsWait())
                        .onErrorReturn(Entry.of(sandbox.ref(), "running", null));
            case SandboxState.Pending pending -> Mono.just(Entry.of(pending.ref(), "starting", List.of()));
            case SandboxState.Stopped stopped -> Mono.just(Entry.of(stopped.ref(), "stopped", List.of()));
            case SandboxState.Asleep asleep -> Mono.just(Entry.of(asleep.ref(), "suspended", List.of()));
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
                    .required("state", Schema.text("running, starting, stopped or suspended"))
                    .required(
                            "sessions",
                            Schema.list("Its sessions; null if it did not tell", session)
                                    .orNull());
            return Schema.object()
                    .required("sandboxes", Schema.list("One entry for each sandbox", sandbox))
                    .required("truncated", Schema.flag("There are more; only %d are told of".formatted(MOST_SANDBOXES)))
                    .keywords();
        }
    }

    /**
     * One sandbox.
     *
     * @param namespace its tenant
     * @param name as its maker wrote it
     * @param state one word
     * @param sessions null if it runs and did not tell in time
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    record Entry(
            String namespace,
            String name,
            String state,
            @Nullable List<Kernel> sessions) {

        static Entry of(SandboxRef ref, String state, @Nullable List<Session> sessions) {
            return new Entry(
                    ref.tenant(),
                    ref.givenName(),
                    state,
                    sessions == null ? null : sessions.stream().map(Kernel::of).toList());
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
