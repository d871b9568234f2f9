package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.ToolServers;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.toolserver.AgentServerSettings.Permitted;
import dev.sandglass.gateway.toolserver.AgentServers.Made;
import dev.sandglass.gateway.toolserver.AgentServers.Owner;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.KnownServer;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;

/** Registers and removes MCP servers in pods of their own, each for the code of one sandbox. */
final class AgentServerActions {

    private final OwnPods pods;
    private final ToolServers inSandboxes;

    AgentServerActions(OwnPods pods, ToolServers inSandboxes) {
        this.pods = pods;
        this.inSandboxes = inSandboxes;
    }

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

    /**
     * Registers a server for that sandbox, where functions are written. Code calls the one that has the name until this one
     * runs; if it does not run, it is deleted again. Cancelling ends the waiting alone.
     */
    Mono<RegisteredServer> register(RunningSandbox sandbox, Wanted wanted) {
        Registration registration = wanted.registration();
        var all = new Wanted(
                registration,
                pods.settings().domains(registration, wanted.allowedDomains(), pods.usualDomains()),
                wanted.createdBy());
        return Mono.defer(() -> {
            checkNotShared(sandbox.uid(), registration.name());
            var waits = new AtomicBoolean(true);
            Mono<RegisteredServer> whole = inSandboxes.list(sandbox).flatMap(present -> pods.resources()
                    .register(owner(sandbox.ref(), sandbox.uid()), all)
                    .flatMap(made -> run(sandbox, made, isIn(present, registration.name()), waits)));
            return Mono.fromFuture(whole.toFuture(), true).doOnCancel(() -> waits.set(false));
        });
    }

    private static boolean isIn(List<KnownServer> present, String name) {
        return present.stream().anyMatch(server -> server.name().equals(name));
    }

    /**
     * Has a server run and take the name over.
     *
     * @param hidden whether a server in the sandbox's pod has the name, which hides this one
     * @param waits whether the caller still does
     */
    private Mono<RegisteredServer> run(RunningSandbox sandbox, Made made, boolean hidden, AtomicBoolean waits) {
        SharedServer server = made.server();
        Mono<Void> shown = hidden ? shown(sandbox, server.name()) : Mono.empty();
        return pods.start()
                .start(
                        server,
                        tools -> shown.then(
                                Mono.defer(() -> inSandboxes.writeFunctions(sandbox, server.name(), tools.json()))))
                .flatMap(running -> pods.resources()
                        .takeOver(owner(sandbox.ref(), sandbox.uid()), server)
                        .map(there -> {
                            if (!there) {
                                throw failed("Not registered: '%s' was removed or registered again meanwhile."
                                        .formatted(server.name()));
                            }
                            return running;
                        }))
                .onErrorResume(failure -> undone(made, failure, waits.get()));
    }

    private Mono<Void> shown(RunningSandbox sandbox, String name) {
        return inSandboxes
                .remove(sandbox, name)
                .onErrorResume(
                        ServerRefused.class,
                        refused -> refused.why() == ServerRefused.Cause.NO_SERVER ? Mono.empty() : Mono.error(refused));
    }

    /**
     * What a failed registration leaves: the one before, if there is one. A server alone whose caller has gone stays, is
     * listed with its failure, and starts again with the next call.
     */
    private Mono<RegisteredServer> undone(Made made, Throwable failure, boolean waits) {
        if (made.former().isEmpty() && !waits) {
            return Mono.error(failure);
        }
        return pods.resources().delete(made.server()).onErrorComplete().then(Mono.error(() -> made.former()
                .flatMap(former -> pods.known().current(former.identity()))
                .map(former -> withFormer(failure, former.name()))
                .orElse(failure)));
    }

    private static Throwable withFormer(Throwable failure, String name) {
        if (!(failure instanceof SandboxProblem.Refused refused)) {
            return failure;
        }
        String fact =
                "%s Code still calls the server that was registered as '%s' before.".formatted(refused.fact(), name);
        return refused instanceof ServerRefused known
                ? new ServerRefused(known.why(), fact, known.next())
                : new SandboxProblem.Refused(fact, refused.next());
    }

    private static ServerRefused failed(String fact) {
        return new ServerRefused(ServerRefused.Cause.START_FAILED, fact, null);
    }

    /** Whether the one of that name is registered anew just now. */
    boolean isBeingReplaced(String uid, String name) {
        return pods.known()
                .asker(uid)
                .filter(asker -> pods.known().isBeingReplaced(asker, name))
                .isPresent();
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
