package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import reactor.core.publisher.Mono;

/**
 * What can be done with a sandbox's sessions besides running code in them. Failures come as
 * {@link dev.sandglass.gateway.sandbox.SandboxProblem}.
 */
public final class Sessions {

    // No supervisor has more kernels than 8.
    private static final int MOST = 64;
    private static final Duration PROMPT = Duration.ofSeconds(5);
    // The supervisor gives a kernel 60 s to start, three times.
    private static final Duration RESTART = Duration.ofMinutes(4);

    private final Function<RunningSandbox, Link> links;

    Sessions(Function<RunningSandbox, Link> links) {
        this.links = links;
    }

    /** All sessions of a sandbox, and its newest executions. */
    public Mono<SandboxContents> list(RunningSandbox sandbox) {
        return ask(sandbox, new Verb.ListAll(), PROMPT).map(answer -> SandboxContents.parse(sandbox, answer.json()));
    }

    /**
     * What came of an interrupt.
     *
     * @param known whether there is such a session
     * @param executions those that were interrupted
     */
    public record Interrupted(boolean known, List<ExecutionId> executions) {
        /** Keeps its own copy. */
        public Interrupted {
            executions = List.copyOf(executions);
        }
    }

    /** Interrupts what runs in a session; tells which executions that were. What waits there goes on waiting. */
    public Mono<Interrupted> interrupt(RunningSandbox sandbox, Session.Name name) {
        return ask(sandbox, new Verb.InterruptSession(name.language(), name.session()), PROMPT)
                .map(answer -> new Interrupted(isUsed(answer), interrupted(sandbox, answer)));
    }

    /** Interrupts one execution of this sandbox, of whatever kind; false if it had ended already. */
    public Mono<Boolean> interrupt(RunningSandbox sandbox, ExecutionId id) {
        return Mono.fromFuture(() -> links.apply(sandbox).ask(new Verb.Interrupt(id.number()), PROMPT))
                .map(answer -> !interrupted(sandbox, answer).isEmpty())
                .onErrorMap(
                        failure -> Failures.isUnknown(failure) ? forgotten(id) : Failures.problem(sandbox, failure));
    }

    private static SandboxProblem forgotten(ExecutionId id) {
        return new SandboxProblem.Refused(
                "The sandbox does not know %s: it never began, or ended before the newest 64.".formatted(id),
                NextStep.Plain.SEE_EXECUTIONS);
    }

    private static List<ExecutionId> interrupted(RunningSandbox sandbox, Answer answer) {
        return StreamSupport.stream(answer.json().path("interrupted").spliterator(), false)
                .limit(MOST)
                .flatMap(number -> ExecutionId.of(sandbox, number.asString("")).stream())
                .toList();
    }

    /**
     * Gives a session a fresh kernel: variables are lost, files and packages are kept. Completes when the kernel answers;
     * false if there was no such session.
     */
    public Mono<Boolean> reset(RunningSandbox sandbox, Session.Name name) {
        return ask(sandbox, new Verb.Reset(name.language(), name.session()), RESTART)
                .map(Sessions::isUsed);
    }

    /** Ends a session's kernel and forgets the session; false if there was no such session. */
    public Mono<Boolean> close(RunningSandbox sandbox, Session.Name name) {
        return ask(sandbox, new Verb.Close(name.language(), name.session()), PROMPT)
                .map(Sessions::isUsed);
    }

    private static boolean isUsed(Answer answer) {
        return !answer.json().path("state").asString("").equals("unused");
    }

    private Mono<Answer> ask(RunningSandbox sandbox, Verb verb, Duration patience) {
        return Mono.fromFuture(() -> links.apply(sandbox).ask(verb, patience))
                .onErrorMap(failure -> Failures.problem(sandbox, failure));
    }
}
