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
import java.util.List;
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

    /** Runs a program; calls run side by side. */
    Mono<Run> run(SandboxRef ref, Program program, Absent absent, Patience patience) {
        return Mono.usingWhen(
                Mono.fromSupplier(() -> new Session.Name(PYTHON, "call-" + UUID.randomUUID())),
                name -> runs.run(ref, program.in(name.session()), absent, patience),
                name -> close(ref, name));
    }

    /**
     * What is run.
     *
     * @param code Python
     * @param servers MCP servers of the sandbox that it has as proxies
     * @param limits its bounds
     */
    record Program(String code, List<String> servers, ExecutionRequest.Limits limits) {

        private ExecutionRequest.Code in(String session) {
            var fresh = new ExecutionRequest.Fresh(servers);
            return new ExecutionRequest.Code(PYTHON, session, null, fresh, null, code, Map.of(), limits);
        }
    }

    /** What cannot be closed is gone, or goes with its sandbox. */
    private Mono<Boolean> close(SandboxRef ref, Session.Name name) {
        return sessions.close(ref, name).onErrorComplete(SandboxProblem.class);
    }
}
