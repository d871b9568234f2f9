package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.gateway.action.Absent;
import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.action.Runs;
import dev.sandglass.gateway.action.SessionActions;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.Map;
import java.util.UUID;
import reactor.core.publisher.Mono;

/** Runs code in a kernel of its own, which ends with the call however that ends, and with it the processes it began. */
final class FreshRuns {

    private static final String PYTHON = "python";

    private final Runs runs;
    private final SessionActions sessions;

    FreshRuns(Runs runs, SessionActions sessions) {
        this.runs = runs;
        this.sessions = sessions;
    }

    /** Runs it; calls run side by side. */
    Mono<Run> run(SandboxRef ref, String code, ExecutionRequest.Limits limits, Absent absent, Patience patience) {
        return Mono.usingWhen(
                Mono.fromSupplier(() -> new Session.Name(PYTHON, "call-" + UUID.randomUUID())),
                name -> runs.run(
                        ref,
                        new ExecutionRequest.Code(PYTHON, name.session(), null, true, null, code, Map.of(), limits),
                        absent,
                        patience),
                name -> close(ref, name));
    }

    /** What cannot be closed is gone, or goes with its sandbox. */
    private Mono<Boolean> close(SandboxRef ref, Session.Name name) {
        return sessions.close(ref, name).onErrorComplete(SandboxProblem.class);
    }
}
