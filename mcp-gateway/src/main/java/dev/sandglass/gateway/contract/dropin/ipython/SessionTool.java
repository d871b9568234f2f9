package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.action.Interruption;
import dev.sandglass.gateway.action.SessionActions;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.DropInTool;
import dev.sandglass.gateway.contract.dropin.Place;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code reset}, {@code shutdown} and {@code interrupt} (contracts.md P9 to P12). */
final class SessionTool implements DropInTool {

    private final Deed deed;
    private final Place place;
    private final SessionActions sessions;
    private final Steps steps;
    private final ToolDefinition definition;

    SessionTool(Deed deed, Place place, SessionActions sessions, Steps steps) {
        this.deed = deed;
        this.place = place;
        this.sessions = sessions;
        this.steps = steps;
        this.definition = deed.definition();
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Steps steps() {
        return steps;
    }

    @Override
    public Place place() {
        return place;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        String text = SessionNames.read(call.arguments());
        SandboxRef ref = place.of(call);
        String unknown = "unknown session '%s'".formatted(text);
        return done(ref, SessionNames.of(text))
                .map(known -> answer(known ? null : unknown))
                .onErrorResume(
                        SandboxProblem.class,
                        problem -> Mono.just(answer(trouble(problem).orElse(unknown))));
    }

    private Mono<Boolean> done(SandboxRef ref, Session.Name name) {
        return switch (deed) {
            case RESET -> sessions.reset(ref, name);
            case SHUTDOWN -> sessions.close(ref, name);
            case INTERRUPT -> sessions.interrupt(ref, name).map(met -> !(met instanceof Interruption.NoSession));
        };
    }

    /** A sandbox that does not run has no sessions; empty for that. */
    private Optional<String> trouble(SandboxProblem problem) {
        return switch (problem) {
            case SandboxProblem.NotFound _, SandboxProblem.Asleep _, SandboxProblem.NotRunning _ -> Optional.empty();
            default -> Optional.of(steps.told(problem));
        };
    }

    private static ToolResult answer(@Nullable String error) {
        var facts = JsonNodeFactory.instance.objectNode().put("ok", error == null);
        if (error != null) {
            facts.put("error", error);
        }
        return Json.answer(facts, facts, List.of(), error == null ? "ok" : "refused", null);
    }

    /** What is done. */
    enum Deed {
        RESET("reset", "Reset a session", """
                Restarts a session's kernel: variables are gone, its name and env stay, files too."""),
        SHUTDOWN("shutdown", "Shut a session down", """
                Ends a session's kernel and forgets the session; files stay."""),
        INTERRUPT("interrupt", "Interrupt a session", """
                Interrupts the cell that runs in a session; its variables stay.""");

        private final String tool;
        private final String title;
        private final String description;

        Deed(String tool, String title, String description) {
            this.tool = tool;
            this.title = title;
            this.description = description;
        }

        private ToolDefinition definition() {
            return new ToolDefinition(
                    tool,
                    title,
                    description,
                    Schema.object().required("session", SessionNames.schema()).keywords(),
                    Schema.object()
                            .required("ok", Schema.flag("Whether it was done"))
                            .optional("error", Schema.text("Why not"))
                            .keywords(),
                    ToolDefinition.Annotations.ENDS);
        }
    }
}
