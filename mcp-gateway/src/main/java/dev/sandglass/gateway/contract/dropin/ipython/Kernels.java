package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.action.Overview;
import dev.sandglass.gateway.action.Selection;
import dev.sandglass.gateway.contract.config.Folders;
import dev.sandglass.gateway.execution.SandboxContents;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** The sessions of a sandbox as this endpoint tells them. */
final class Kernels {

    static final String OWN_ENV = "default";
    private static final String OWN_PYTHON = "/opt/sandglass/bin/python";
    private static final String HOME = "/workspace";

    private final Overview overview;
    private final Duration atMost;

    Kernels(Overview overview, Duration atMost) {
        this.overview = overview;
        this.atMost = atMost;
    }

    /** Those that were used, of a sandbox that runs; none if there is no such sandbox. Empty if it did not answer. */
    Mono<Optional<List<Session>>> of(SandboxRef ref) {
        return Mono.defer(() -> overview.contents(overview.find(new Selection.One(ref)), atMost))
                .map(answers -> answers.entries().getFirst())
                .map(entry ->
                        entry.state().isRunning() ? entry.answer().map(Kernels::used) : Optional.of(List.<Session>of()))
                .onErrorResume(SandboxProblem.NotFound.class, missing -> Mono.just(Optional.of(List.of())));
    }

    /** A sandbox begins with a session of its own accord, which does not count before somebody used it. */
    private static List<Session> used(SandboxContents contents) {
        return contents.sessions().stream()
                .filter(SessionNames::isPython)
                .filter(Session::used)
                .toList();
    }

    /** Whether it is known that nobody used a session of that name. */
    Mono<Boolean> isUnused(SandboxRef ref, Session.Name name) {
        return of(ref).map(known -> known.filter(sessions ->
                        sessions.stream().noneMatch(session -> session.name().equals(name)))
                .isPresent());
    }

    /** The session of that name; empty if there is none, or it is not known. */
    Mono<Optional<Session>> find(SandboxRef ref, Session.Name name) {
        return of(ref).map(known -> known.flatMap(sessions -> sessions.stream()
                        .filter(session -> session.name().equals(name))
                        .findFirst()))
                .onErrorReturn(Optional.empty());
    }

    /** What a session's environment is called. */
    static String env(Session session) {
        return Optional.ofNullable(session.pythonEnv()).orElse(OWN_ENV);
    }

    /** The absolute path of a session's interpreter (contracts.md P14). */
    static String python(Session session) {
        String env = session.pythonEnv();
        if (env == null) {
            return OWN_PYTHON;
        }
        String folder = env.startsWith("/")
                ? env
                : env.startsWith("~") ? HOME + env.substring(1) : HOME + (env.contains("/") ? "/" : "/envs/") + env;
        return Folders.bare(folder) + "/bin/python";
    }

    /** What a session does; one whose kernel ended gets another for its next cell. */
    static String status(Session session) {
        return switch (session.state()) {
            case "busy", "starting" -> "busy";
            default -> "idle";
        };
    }
}
