package dev.sandglass.operator.child;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.pod.SecretFiles;
import java.util.Optional;

/**
 * What a tool server's pod may be made of. Its Secrets come from the {@link SandboxToolServer} and from nothing that a
 * user of Sandboxes can write, and they are mounted only beside what that resource says: else an account that may edit
 * Sandboxes would read them with an image, or over a host, of its own.
 *
 * @param secrets what the pod mounts; none if there is a refusal, or if the Sandbox is not a tool server's
 * @param refusal why no pod is made now
 */
public record ToolServerCheck(SecretFiles secrets, Optional<PodRefusal> refusal) {

    private static final ToolServerCheck NOTHING = new ToolServerCheck(SecretFiles.NONE, Optional.empty());

    /**
     * Checks a Sandbox.
     *
     * @param server the SandboxToolServer of the Sandbox's namespace that its label names, as far as it is known
     */
    public static ToolServerCheck of(Sandbox sandbox, Optional<SandboxToolServer> server) {
        Optional<String> name = ToolServerChild.server(sandbox);
        if (name.isEmpty()) {
            return NOTHING;
        }
        Optional<SandboxToolServer> owner = server.filter(found -> isChild(sandbox, found));
        return owner.map(found -> of(sandbox, found))
                .orElseGet(() -> refused(
                        Reason.STARTING,
                        "No SandboxToolServer " + name.get() + " owns this Sandbox, which has its label "
                                + SandboxLabels.TOOL_SERVER + "; the operator makes no pod before there is one. If the"
                                + " Sandbox is left over, delete it"));
    }

    /** By its name too: a second Sandbox that claims the same owner is not its child. */
    private static boolean isChild(Sandbox sandbox, SandboxToolServer server) {
        String child = SandboxToolServer.childName(server.getMetadata().getName());
        return child.equals(sandbox.getMetadata().getName()) && ToolServerChild.belongsTo(server, sandbox);
    }

    private static ToolServerCheck of(Sandbox sandbox, SandboxToolServer server) {
        String name = server.getMetadata().getName();
        Optional<String> problem = ToolServerChild.problem(server.getSpec());
        if (problem.isPresent()) {
            return refused(Reason.INVALID_SPEC, "SandboxToolServer " + name + ": " + problem.get());
        }
        // The operator mends it in a round for the other resource; a waiting caller is not told that it is in vain.
        return ToolServerChild.isAsWanted(server, sandbox)
                ? new ToolServerCheck(new SecretFiles(server.getSpec().secretKeys()), Optional.empty())
                : refused(
                        Reason.STARTING,
                        "The Sandbox does not have the settings of SandboxToolServer " + name + " and gets no pod"
                                + " before it has; the operator writes them, and that resource's condition Accepted"
                                + " says what is in the way");
    }

    private static ToolServerCheck refused(Reason reason, String message) {
        return new ToolServerCheck(SecretFiles.NONE, Optional.of(new PodRefusal(reason, message)));
    }
}
