package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several sets of variables in one sandbox: apart from each other, interrupted, reset and closed one by one. */
class SessionsE2E {

    @RegisterExtension
    static final FreshSandboxes SHARED = FreshSandboxes.perClass();

    @RegisterExtension
    static final FreshSandboxes OWN = FreshSandboxes.perTest();

    private static String sandbox = "";

    private final Agent agent = SHARED.agent();

    @BeforeAll
    static void start() {
        sandbox = SHARED.start();
    }

    /** Of the test before, which may have failed while its code ran, no session is left. */
    @BeforeEach
    void onlyAFreshDefaultSession() {
        maps(entry("sessions").get("sessions"))
                .map(open -> String.valueOf(open.get("session")))
                .forEach(session -> call("sandbox_close_session", sandbox, session));
        assertThat(agent.python(sandbox, "0").status()).isEqualTo("ok");
    }

    private Answer in(String where, String session, String code) {
        return agent.call("sandbox_run_code", Map.of("sandbox", where, "session", session, "code", code));
    }

    private Answer call(String tool, String where, String session) {
        return agent.call(tool, Map.of("sandbox", where, "session", session));
    }

    /** Name and state of each session, e.g. {@code default idle}. */
    private Stream<String> sessions() {
        return maps(entry("sessions").get("sessions"))
                .map(session -> session.get("session") + " " + session.get("state"));
    }

    /** The sandbox in the list, which leaves out a field that the sandbox did not answer in time. */
    private Map<?, ?> entry(String field) {
        return await("the sandbox's own " + field)
                .atMost(Duration.ofSeconds(60))
                .until(
                        () -> maps(agent.call("sandbox_list", Map.of("sandbox", sandbox))
                                        .data()
                                        .get("sandboxes"))
                                .findFirst()
                                .orElse(Map.of()),
                        entry -> entry.get(field) instanceof List);
    }

    private static Stream<Map<?, ?>> maps(@Nullable Object list) {
        assertThat(list).isInstanceOf(List.class);
        return Stream.ofNullable((List<?>) list).flatMap(List::stream).map(entry -> (Map<?, ?>) entry);
    }

    @Test
    void eachHasVariablesOfItsOwnAndAllShareTheFiles() {
        in(sandbox, "one", "x = 1; _ = open('/workspace/note', 'w').write('of one')");
        in(sandbox, "two", "x = 2");

        assertThat(in(sandbox, "one", "x").result()).isEqualTo("1");
        assertThat(in(sandbox, "two", "x, open('/workspace/note').read()").result())
                .isEqualTo("(2, 'of one')");
        assertThat(sessions()).containsExactlyInAnyOrder("default idle", "one idle", "two idle");
    }

    @Test
    void resetLosesVariablesAndKeepsFiles() {
        agent.python(sandbox, "x = 1; _ = open('/workspace/kept', 'w').write('kept')");

        Answer reset = call("sandbox_reset", sandbox, "default");

        assertThat(reset.status()).isEqualTo("reset");
        assertThat(agent.python(sandbox, "x").object("error").get("name")).isEqualTo("NameError");
        assertThat(agent.python(sandbox, "open('/workspace/kept').read()").result())
                .isEqualTo("'kept'");
    }

    @Test
    void interruptEndsWhatRunsAndKeepsVariables() {
        agent.python(sandbox, "x = 1");
        StreamedCall endless = agent.stream(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", "print('on', flush=True)\nwhile True: pass"));
        endless.awaitOutput("on\n");

        Answer interrupted = call("sandbox_interrupt", sandbox, "default");
        Answer ended = endless.answer();

        assertThat(interrupted.status()).isEqualTo("interrupted");
        assertThat(interrupted.data().get("interrupted")).isEqualTo(List.of(ended.executionId()));
        assertThat(ended.status()).isEqualTo("interrupted");
        assertThat(ended.stdout()).isEqualTo("on\n");
        assertThat(agent.python(sandbox, "x").result()).isEqualTo("1");
        assertThat(call("sandbox_interrupt", sandbox, "default").status()).isEqualTo("idle");
    }

    @Test
    void aCommandInTheBackgroundIsFoundByTheListAndInterruptedByItsId() {
        String id = agent.call(
                        "sandbox_run_command",
                        Map.of("sandbox", sandbox, "command", "sleep", "args", List.of("600"), "background", true))
                .executionId();
        assertThat(maps(entry("executions").get("executions"))
                        .filter(execution -> "running".equals(execution.get("state")))
                        .map(execution -> execution.get("execution_id") + " " + execution.get("kind")))
                .containsExactly(id + " command");
        Map<String, Object> named = Map.of("sandbox", sandbox, "execution_id", id);

        assertThat(agent.call("sandbox_interrupt", named).status()).isEqualTo("interrupted");

        assertThat(agent.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 10))
                        .status())
                .isEqualTo("interrupted");
        assertThat(agent.call("sandbox_interrupt", named).status()).isEqualTo("ended");
    }

    @Test
    void closingEndsWhatRunsAndForgetsTheSession() {
        StreamedCall endless = agent.stream(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "session", "busy", "code", "print('on', flush=True)\nwhile True: pass"));
        endless.awaitOutput("on\n");
        assertThat(sessions()).contains("busy busy");

        assertThat(call("sandbox_close_session", sandbox, "busy").status()).isEqualTo("closed");

        Answer ended = endless.answer();
        assertThat(ended.status()).isEqualTo("interrupted");
        assertThat(ended.flag("kernel_restarted")).isTrue();
        assertThat(sessions()).containsExactly("default idle");
    }

    @Test
    void aStartAfterTheDefaultSessionWasClosedAnswersAtOnce() {
        agent.python(sandbox, "x = 1");
        assertThat(call("sandbox_close_session", sandbox, "default").status()).isEqualTo("closed");

        long begin = System.nanoTime();
        Answer started = agent.call("sandbox_start", Map.of("sandbox", sandbox));

        assertThat(started.status()).isEqualTo("running");
        // Not only when a start gives up waiting, which is after 50 s; a kernel's own start takes seconds on a busy
        // node.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(30));
        assertThat(agent.python(sandbox, "'x' in globals()").result()).isEqualTo("False");
    }

    @Test
    void theNinthSessionIsRefusedUntilOneIsClosed() {
        // As many sessions as a sandbox may have.
        String full = OWN.start();
        for (int number = 1; number < 8; number++) {
            in(full, "s" + number, "1");
        }

        assertThat(in(full, "ninth", "1").status()).isEqualTo("rejected");
        call("sandbox_close_session", full, "s3");
        assertThat(in(full, "ninth", "1 + 1").result()).isEqualTo("2");
    }
}
