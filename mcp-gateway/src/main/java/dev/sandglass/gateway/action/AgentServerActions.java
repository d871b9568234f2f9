package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.ToolServers;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.toolserver.AgentServerSettings.Permitted;
import dev.sandglass.gateway.toolserver.AgentServers.Owner;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServerState;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** Registers and removes MCP servers in pods of their own, each for the code of one sandbox. */
final class AgentServerActions {

    private final OwnPods pods;
    private final ToolServers inSandboxes;

    AgentServerActions(OwnPods pods, ToolServers inSandboxes) {
        this.pods = pods;
        this.inSandboxes = inSandboxes;
    }

    /**
     * A server that runs.
     *
     * @param tools the first of its tools
     */
    record Started(SharedServer server, SharedServerState.Tools tools) {}

    /** Fails with the reason if an administrator does not let agents register it. */
    void checkPermitted(Registration registration) {
        if (pods.settings().permits(registration)) {
            return;
        }
        Permitted permitted = pods.settings().permitted();
        throw new SandboxProblem.Refused(
                ("This installation lets agents register %s in a pod of its own (mcp.agentServers of the chart is '%s')."
                                + " Its administrator can permit it, or share this server as a SandboxToolServer.")
                        .formatted(
                                permitted == Permitted.NONE
                                        ? "no MCP server"
                                        : "only an MCP server with 'url', and none with 'command',",
                                permitted.word()),
                NextStep.Plain.PLACE_IN_SANDBOX);
    }

    /** Registers a server for that sandbox. One that does not start is deleted again. */
    Mono<Started> register(RunningSandbox sandbox, Wanted wanted) {
        Registration registration = wanted.registration();
        var all = new Wanted(
                registration,
                pods.settings().domains(registration, wanted.allowedDomains(), pods.usualDomains()),
                wanted.createdBy());
        return Mono.defer(() -> {
                    checkNotShared(sandbox.uid(), registration.name());
                    return inSandboxes.list(sandbox);
                })
                .flatMap(present -> {
                    boolean hidden =
                            present.stream().anyMatch(server -> server.name().equals(registration.name()));
                    Mono<Void> shown = hidden ? inSandboxes.remove(sandbox, registration.name()) : Mono.empty();
                    return pods.resources()
                            .register(owner(sandbox.ref(), sandbox.uid()), all)
                            .flatMap(server -> shown.then(started(server)));
                });
    }

    private Mono<Started> started(SharedServer server) {
        return pods.start()
                .apply(server)
                .map(tools -> new Started(server, tools))
                .onErrorResume(failure ->
                        pods.resources().delete(server).onErrorComplete().then(Mono.error(failure)));
    }

    /** An administrator's comes first in code, so that this one could not be called. */
    private void checkNotShared(String uid, String name) {
        if (find(uid, name).filter(server -> !server.ofAgent()).isPresent()) {
            throw ServerRefused.ofArgument(
                    "name", "", "'%s' is a server that an administrator shares; choose another".formatted(name));
        }
    }

    private Optional<SharedServer> find(String uid, String name) {
        return pods.known().asker(uid).flatMap(asker -> pods.known().find(asker, name));
    }

    private static Owner owner(SandboxRef ref, String uid) {
        return new Owner(ref.tenant(), ref.namespace(), ref.name(), ref.givenName(), uid);
    }

    /** Removes the server of that name that was registered for a sandbox in a pod of its own; whether there was one. */
    Mono<Boolean> remove(SandboxRef ref, String uid, String name) {
        return pods.resources().remove(owner(ref, uid), name).flatMap(removed -> {
            boolean shared = find(uid, name).filter(server -> !server.ofAgent()).isPresent();
            return removed || !shared
                    ? Mono.just(removed)
                    : Mono.error(new SandboxProblem.Refused(
                            ("MCP server '%s' is not removed: an administrator shares it with sandboxes of this"
                                            + " namespace.")
                                    .formatted(name)));
        });
    }

    /** Deletes what a registration in the sandbox's own pod replaces. */
    Mono<Void> replaced(RunningSandbox sandbox, String name) {
        return Mono.defer(() -> find(sandbox.uid(), name)
                .filter(SharedServer::ofAgent)
                .map(_ -> pods.resources()
                        .remove(owner(sandbox.ref(), sandbox.uid()), name)
                        .onErrorComplete()
                        .then())
                .orElseGet(Mono::empty));
    }
}
