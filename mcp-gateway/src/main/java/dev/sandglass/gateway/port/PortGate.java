package dev.sandglass.gateway.port;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.caller.Admission;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.port.message.PortProblem;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Who may use which port: the same rights as for a tool call, looked at for every request and again and again while a
 * connection is open. Failures are {@link PortProblem}.
 */
final class PortGate {

    private final Callers callers;
    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Sessions sessions;
    private final PortLinks links;
    private final InstantSource clock;

    PortGate(Who who, Sandboxes sandboxes, Sessions sessions, LinkSecret secret, InstantSource clock) {
        this.callers = who.callers();
        this.access = who.access();
        this.sandboxes = sandboxes;
        this.sessions = sessions;
        this.links = new PortLinks(secret);
        this.clock = clock;
    }

    /** Who calls, and what each may use. */
    record Who(Callers callers, TenantAccess access) {}

    /** A caller and a sandbox that it may use; the sandbox need not exist. */
    record Entry(Caller caller, SandboxRef ref) {}

    /** Lets a request in, or fails with {@link PortProblem}. */
    Mono<Entry> enter(PortPath path, @Nullable String authorization) {
        return path.link() == null ? withCredentials(path, authorization) : withLink(path, path.link());
    }

    private Mono<Entry> withCredentials(PortPath path, @Nullable String authorization) {
        return Admission.of(callers, authorization).map(admission -> switch (admission) {
            case Admission.Refused(String challenge, String message) ->
                throw PortProblem.unauthorized(challenge, message);
            case Admission.Undecided(String message) -> throw PortProblem.unavailable(message);
            case Admission.Admitted(Caller caller) -> withCredentials(path, caller);
        });
    }

    private Entry withCredentials(PortPath path, Caller caller) {
        try {
            return new Entry(caller, access.sandbox(caller, Optional.of(path.tenant()), path.sandbox()));
        } catch (SandboxProblem problem) {
            throw PortProblem.of(problem);
        } catch (InvalidNameException problem) {
            throw new PortProblem(HttpResponseStatus.NOT_FOUND, String.valueOf(problem.getMessage()));
        }
    }

    private Mono<Entry> withLink(PortPath path, String link) {
        Optional<PortLinks.Claim> read = PortLinks.read(link);
        return Mono.justOrEmpty(read)
                .flatMap(claim -> callers.named(claim.caller()).map(caller -> withLink(path, claim, caller)))
                .switchIfEmpty(Mono.error(PortProblem::badLink));
    }

    private Entry withLink(PortPath path, PortLinks.Claim claim, Caller caller) {
        SandboxRef ref;
        try {
            ref = access.sandbox(caller, Optional.of(path.tenant()), path.sandbox());
        } catch (SandboxProblem | InvalidNameException problem) {
            throw PortProblem.badLink();
        }
        String uid = sandboxes.find(ref).map(SandboxState::uid).orElseThrow(PortProblem::badLink);
        if (!links.signed(claim, uid, path.port()) || !clock.instant().isBefore(claim.expires())) {
            throw PortProblem.badLink();
        }
        return new Entry(caller, ref);
    }

    /**
     * The sandbox, once it is known to be the one behind its address: the link's keys are those of this very pod, so that
     * an answer over the link is the proof which the port itself cannot give.
     */
    Mono<RunningSandbox> open(Entry entry, int port) {
        return sandboxes
                .running(entry.ref())
                .flatMap(sandbox -> sandbox.declares(port)
                        ? sessions.list(sandbox).thenReturn(sandbox)
                        : Mono.error(undeclared(sandbox, port)))
                .onErrorMap(SandboxProblem.class, PortProblem::of);
    }

    /** Whether a connection that was let in may stay: the same caller, pod and port. */
    Mono<Boolean> mayStay(PortPath path, @Nullable String authorization, RunningSandbox sandbox) {
        return enter(path, authorization)
                .map(entry ->
                        sandboxes.find(entry.ref()).orElse(null) instanceof SandboxState.Running(RunningSandbox now)
                                && now.uid().equals(sandbox.uid())
                                && now.incarnation() == sandbox.incarnation()
                                && now.address().equals(sandbox.address())
                                && now.declares(path.port()))
                .onErrorReturn(PortProblem.class, false);
    }

    /** Notes that the sandbox is used. */
    void active(RunningSandbox sandbox) {
        sandboxes.active(sandbox, Duration.ZERO);
    }

    private static PortProblem undeclared(RunningSandbox sandbox, int port) {
        String declared = sandbox.declared().stream()
                .map(each -> Integer.toString(each.port()))
                .collect(Collectors.joining(", "));
        return new PortProblem(
                HttpResponseStatus.NOT_FOUND,
                "Port %d of sandbox '%s' is not declared; %s. Call sandbox_start with 'config.ports' to declare it."
                        .formatted(
                                port,
                                sandbox.ref().givenName(),
                                declared.isEmpty() ? "no port is" : "declared are " + declared));
    }
}
