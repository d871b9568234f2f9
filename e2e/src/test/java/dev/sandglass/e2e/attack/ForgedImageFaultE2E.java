package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Attack.Finding;
import dev.sandglass.e2e.support.ControlPod;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Node;
import dev.sandglass.e2e.support.StreamedCall;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Code says in the runtime's words that its image cannot be run, and ends its container. That the operator believes these
 * words where code cannot write them is shown by {@code ImageFaultTest}.
 */
class ForgedImageFaultE2E {

    private static final Attack FORGERY = Attack.named("image_fault.py");
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String ADVICE = "own-images";

    /** What the operator believes of a container that a runtime or the supervisor ended, with the exit code. */
    private static final Map<String, Integer> WORDS = Map.of(
            "exec /usr/bin/python3: exec format error", 255,
            "/usr/bin/python3: No module named sandglass_supervisor", 1,
            "image-lacks: the Python package ipykernel 7.3 or newer: it has none", 3);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void needsANode() {
        assumeTrue(Installation.current().ownNode().isPresent(), "only the project's own node can be entered");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @TestFactory
    Stream<DynamicTest> noPlaceOfLastWordsCanBeWrittenThatCanBeInAControlPod() {
        String sandbox = SANDBOXES.start();
        Map<String, Finding> inSandbox = FORGERY.run(List.of(), code -> printed(sandbox, code));
        Map<String, Finding> unguarded;
        try (ControlPod control = ControlPod.start(TENANT.kubernetes(), TENANT.imageOf(sandbox), 1)) {
            unguarded = FORGERY.run(List.of(), control::python);
            assertThat(control.lastWords(node()))
                    .as("control: what the node reads")
                    .startsWith("exec /usr/bin/python3: exec format error");
        }
        assertThat(inSandbox).hasSameSizeAs(unguarded).hasSize(6);

        return inSandbox.values().stream()
                .map(finding -> DynamicTest.dynamicTest(finding.name(), () -> {
                    assertThat(Objects.requireNonNull(unguarded.get(finding.name()))
                                    .reached())
                            .as("control: %s", unguarded.get(finding.name()))
                            .isTrue();
                    assertThat(finding.reached()).as("sandbox: %s", finding).isFalse();
                }));
    }

    /** What code does last. A node with cgroup v2 then ends the container for lack of memory; the tests' node is told to. */
    enum LastDeed {
        WAIT("import time\nprint('last', flush=True)\ntime.sleep(600)", Reason.CRASHED),
        TAKE_ALL_MEMORY(
                "print('last', flush=True)\nhoard = []\nwhile True: hoard.append(bytearray(1 << 20))",
                Reason.OOM_KILLED);

        private final String code;
        private final Reason reason;

        LastDeed(String code, Reason reason) {
            this.code = code;
            this.reason = reason;
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatCodeSaysOfItsImageIsNotBelieved(LastDeed deed) {
        // A caller may put a folder of the code's in front; the first process is not looked for there.
        String sandbox = SANDBOXES.start(Map.of(
                "memory",
                256,
                "envs",
                Map.of("PATH", "/workspace/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")));
        forge(sandbox);
        StreamedCall last = agent.stream(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "timeout", 30, "code", "import sys\n" + said("sys.stderr") + deed.code));
        last.awaitOutput("last\n");
        if (deed == LastDeed.TAKE_ALL_MEMORY) {
            assertThat(last.answer().status()).isEqualTo("oom_killed");
        }

        node().crash(TENANT.containerOf(sandbox));

        Sandbox back = awaitRestarted(sandbox);
        assertThat(last.answer().text()).doesNotContain(ADVICE);
        assertThat(back.observed().restartReason()).isEqualTo(deed.reason.value());
        isNoFaultOfTheImage(back.observed());
        Answer run = run(sandbox);
        assertThat(run.result()).as(run.text()).isEqualTo("2");
        assertThat(run.text()).contains("container was restarted").doesNotContain(ADVICE);
        Answer reset = agent.call("sandbox_reset", Map.of("sandbox", sandbox));
        Answer start = agent.start(sandbox);
        for (Answer answer : List.of(reset, start)) {
            assertThat(answer.failed()).as(answer.text()).isFalse();
            assertThat(answer.text()).doesNotContain(ADVICE);
        }
        // Only now: a container takes long to come back on a busy node, and then an idle sandbox would sleep meanwhile.
        TENANT.change(sandbox, found -> {
            found.setSpec(found.wanted().withIdleTimeout("10s"));
            return found;
        });
        awaitIdle(sandbox);
    }

    private static Node node() {
        return Installation.current().ownNode().orElseThrow();
    }

    /** Every end of every process that code has, with each of the words in every stream. */
    private void forge(String sandbox) {
        shell(sandbox, "mkdir bin; printf '\\177ELF' > bin/python3; chmod +x bin/python3; bin/python3; true");
        FORGERY.run(List.of(), code -> printed(sandbox, code));
        WORDS.forEach((words, exit) -> {
            shell(sandbox, "echo '%s' | tee /dev/stderr; exit %d".formatted(words, exit));
            String code = "import os\nfor stream in (1, 2):\n    os.write(stream, b%s)\nos._exit(%d)"
                    .formatted(Attack.literal(words + "\n"), exit);
            agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", code, "timeout", 2));
        });
    }

    private void shell(String sandbox, String script) {
        agent.call(
                "sandbox_run_command",
                Map.of("sandbox", sandbox, "command", "sh", "args", List.of("-c", script), "timeout", 2));
    }

    private static String said(String stream) {
        return WORDS.keySet().stream()
                .map(words -> "print(%s, file=%s, flush=True)\n".formatted(Attack.literal(words), stream))
                .reduce("", String::concat);
    }

    private static void isNoFaultOfTheImage(SandboxStatus status) {
        assertThat(status.conditions()).isNotEmpty().allSatisfy(condition -> {
            assertThat(condition.getReason()).isNotIn(Reason.IMAGE_UNUSABLE.value(), Reason.IMAGE_PULL_FAILED.value());
            assertThat(condition.getMessage()).doesNotContain(ADVICE, "cannot be a sandbox");
        });
    }

    private Answer run(String sandbox) {
        // Until its time-out is over a run counts as use.
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", "1 + 1", "timeout", 10));
    }

    private String printed(String sandbox, String code) {
        Answer answer = agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", code, "timeout", 20));
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    private static Sandbox awaitRestarted(String sandbox) {
        await("the container to be back").atMost(PATIENCE).until(() -> {
            SandboxStatus seen = TENANT.sandbox(sandbox).observed();
            isNoFaultOfTheImage(seen);
            return seen.address() != null && Integer.valueOf(1).equals(seen.restarts());
        });
        return TENANT.sandbox(sandbox);
    }

    private static void awaitIdle(String name) {
        Sandbox suspended = TENANT.resource(name)
                .waitUntilCondition(
                        sandbox -> sandbox != null && sandbox.observed().holds(ConditionType.SUSPENDED),
                        PATIENCE.toSeconds(),
                        TimeUnit.SECONDS);
        Condition condition =
                suspended.observed().condition(ConditionType.SUSPENDED).orElseThrow();
        assertThat(condition.getReason()).isEqualTo(Reason.IDLE.value());
    }
}
