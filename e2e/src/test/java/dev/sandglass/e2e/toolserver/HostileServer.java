package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import java.time.Duration;
import java.util.List;

/**
 * The server of {@code attack/tool_server.py}, which code in a sandbox calls.
 *
 * @param sandbox in which the code runs
 * @param name by which code knows the server
 * @param others servers of {@link Sums}, which must notice nothing
 */
record HostileServer(Agent agent, String sandbox, String name, List<String> others) {

    /** In all that it says. */
    static final String MARK = "hostile-5e1d90";

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Its program; the first argument says how it begins. */
    static String program() {
        return Attack.named("tool_server.py").source();
    }

    /** Calls a tool once. The kernel, the other servers and the server itself serve on. */
    void attack(HostileCall call) {
        String begun = Long.toString(System.nanoTime());
        agent.python(sandbox, "begun = " + begun);

        Answer answer =
                agent.python(sandbox, """
                import mcptools, sys, time
                begin = time.monotonic()
                try:
                    said, end = str(mcptools.call("%1$s", "%2$s", {}, timeout_s=%3$d)), "answered"
                except mcptools.ToolRunnerError as error:
                    said, end = str(error), type(error).__name__
                print(said[:300], file=sys.stderr)
                print(end, len(said) < 8192, time.monotonic() - begin < %3$d + 5)
                for other in "%4$s".split():
                    print(mcptools.call(other, "Add-Numbers", {"a": 40, "b": 2}, timeout_s=30)["sum"])
                print(begun)
                """.formatted(name, call.tool(), call.seconds(), String.join(" ", others)));

        assertThat(answer.failed()).as(answer.text()).isFalse();
        String end = answer.stdout().split(" ", 2)[0];
        assertThat(end).as(answer.text()).isIn(call.ends());
        assertThat(answer.stdout())
                .as(answer.text())
                .isEqualTo(end + " True True\n" + "42\n".repeat(others.size()) + begun + "\n");
        awaitEcho();
    }

    /** Until the others answer: their pods may still be starting. */
    void awaitOthers() {
        for (String other : others) {
            await("an answer of " + other).atMost(PATIENCE).until(() -> agent.python(
                            sandbox,
                            "import mcptools; print(mcptools.call('%s', 'greet', {'name': 'Ann'}))".formatted(other))
                    .stdout()
                    .endsWith(", Ann\n"));
        }
    }

    /** Until its harmless tool answers: what ended starts again, and what is still busy has an end. */
    void awaitEcho() {
        await("an answer of " + name).atMost(PATIENCE).until(() -> agent.python(
                        sandbox,
                        "import mcptools; print(mcptools.call('%s', 'echo', {'n': 7}, timeout_s=20))".formatted(name))
                .stdout()
                .equals("{'n': 7}\n"));
    }
}
