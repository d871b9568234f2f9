package dev.sandglass.operator.toolserver;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.ToolServerReason;
import dev.sandglass.operator.child.ToolServerChild;
import java.util.Optional;

/** What is to be done about a tool server now. */
sealed interface ToolServerDecision {

    /** There is no Sandbox: make it. */
    record Make(Sandbox desired) implements ToolServerDecision {}

    /** The Sandbox is not as the spec has it: replace its spec. */
    record Mend(Sandbox mended, Sandbox present) implements ToolServerDecision {}

    /** All is as it should be. */
    record Keep(Sandbox child) implements ToolServerDecision {}

    /** The Sandbox is being deleted; the next one is made when it is gone. */
    record Await(Sandbox leaving) implements ToolServerDecision {}

    /**
     * Nothing can be done before the resource, or the Sandbox in its way, is changed.
     *
     * @param child the Sandbox of the resource as it was, if it has one
     */
    record Reject(Refusal refusal, Optional<Sandbox> child) implements ToolServerDecision {}

    /** The resource is being deleted; garbage collection takes the Sandbox. */
    record Leave() implements ToolServerDecision {}

    /** Why a spec is not in force, for the condition Accepted. */
    record Refusal(ToolServerReason reason, String message) {}

    /**
     * Decides.
     *
     * @param present the Sandbox that has the child's name, as far as it is known
     */
    static ToolServerDecision of(SandboxToolServer server, Optional<Sandbox> present) {
        if (server.isMarkedForDeletion()) {
            return new Leave();
        }
        if (present.isPresent() && !ToolServerChild.belongsTo(server, present.get())) {
            return new Reject(taken(server), Optional.empty());
        }
        Optional<Refusal> invalid = ToolServerChild.problem(server.getSpec())
                .map(problem -> new Refusal(ToolServerReason.INVALID_SPEC, problem));
        if (invalid.isPresent()) {
            return new Reject(invalid.get(), present);
        }
        return present.map(child -> ofChild(server, child)).orElseGet(() -> new Make(ToolServerChild.desired(server)));
    }

    private static ToolServerDecision ofChild(SandboxToolServer server, Sandbox child) {
        if (child.isMarkedForDeletion()) {
            return new Await(child);
        }
        return ToolServerChild.isAsWanted(server, child)
                ? new Keep(child)
                : new Mend(ToolServerChild.mended(server, child), child);
    }

    private static Refusal taken(SandboxToolServer server) {
        String name = SandboxToolServer.childName(server.getMetadata().getName());
        return new Refusal(
                ToolServerReason.NAME_TAKEN,
                "The Sandbox " + name + " exists and does not belong to this resource; delete it, or give the tool"
                        + " server another name");
    }
}
