package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The images of docs/examples/own-image run code, and images that cannot be sandboxes say what they lack. All are built and
 * brought into the node by e2e/own-images/build; e2e/up has them allowed.
 */
class OwnImagesE2E {

    private static final String NAMES = "registry.example.com/agents/";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void needTheNode() {
        assumeTrue(Installation.current().ownNode().isPresent(), "elsewhere no image of these names can be pulled");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private String printed(String sandbox, String command, String... args) {
        Answer answer = agent.command(sandbox, command, args);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer.stdout().strip();
    }

    @ParameterizedTest
    @ValueSource(strings = {"kernel:1.4", "any-python:1"})
    void anImageOfOnesOwnIsASandboxLikeAnyOther(String image) {
        String sandbox = SANDBOXES.start(Map.of("image", NAMES + image));

        assertThat(agent.python(sandbox, "import sys; x = 41; sys.version_info >= (3, 10)")
                        .result())
                .isEqualTo("True");
        assertThat(agent.python(sandbox, "x + 1").result()).isEqualTo("42");
        assertThat(agent.python(sandbox, "import os, pwd; os.getuid() > 0 and pwd.getpwuid(os.getuid()).pw_name")
                        .result())
                .as("a name for whatever uid it has")
                .isEqualTo("'sandbox'");
        assertThat(printed(sandbox, "whoami")).isEqualTo("sandbox");
        assertThat(printed(sandbox, "sh", "-c", "touch /usr/x 2>/dev/null || echo refused; touch x && pwd"))
                .isEqualTo("refused\n/workspace");
        assertThat(agent.python(sandbox, "import sandglass_supervisor").status())
                .isEqualTo("ok");
    }

    @Test
    void whatWasAddedToOursIsThere() {
        String sandbox = SANDBOXES.start(Map.of("image", NAMES + "kernel:1.4"));

        assertThat(agent.python(sandbox, "import tabulate, os; tabulate.__version__, os.environ['TABULATE_STYLE']")
                        .result())
                .isEqualTo("('0.9.0', 'github')");
        assertThat(printed(sandbox, "jq", "--version")).startsWith("jq-");
        assertThat(agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", "nodejs", "code", "6 * 7"))
                        .result())
                .isEqualTo("42");
    }

    @Test
    void withoutNodeOnlyNodeFails() {
        String sandbox = SANDBOXES.start(Map.of("image", NAMES + "any-python:1"));

        assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", sandbox, "language", "nodejs", "code", "6 * 7")))
                .containsIgnoringCase("node");
        assertThat(agent.python(sandbox, "6 * 7").result()).isEqualTo("42");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "no-python | no program python3 in its PATH",
                "other-processor | another processor architecture",
                "no-loader | loader or interpreter is missing",
                "no-supervisor | does not have the package sandglass-supervisor",
                "no-ipykernel | it lacks the Python package ipykernel 7.3 or newer",
                "old-python | it lacks Python 3.10 or newer: its python3 is 3.9",
            })
    void aStartOfAWrongImageEndsWithWhatItLacks(String image, String lacks) {
        // On a busy node the first call may end before the container has.
        Answer refused = SANDBOXES.bringUp(SANDBOXES.name(), Map.of("image", NAMES + image + ":1"));

        assertThat(refused.failed()).as(refused.text()).isTrue();
        assertThat(refused.text()).contains("ImageUnusable", NAMES + image + ":1 cannot be a sandbox", lacks);
    }

    @Test
    void conditionEventAndAnswerHaveTheSameWordsAndAnotherImageHealsIt() {
        String name = SANDBOXES.name();
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(name);
        sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
        sandbox.setSpec(new SandboxSpec(NAMES + "no-supervisor:1", null, null, null, null, false));
        TENANT.kubernetes().resource(sandbox).create();

        Sandbox unusable = awaitReason(name, Reason.IMAGE_UNUSABLE);
        String words =
                unusable.observed().condition(ConditionType.READY).orElseThrow().getMessage();
        assertThat(agent.refusal("sandbox_start", Map.of("sandbox", name))).contains(words);
        await("the Event").atMost(Duration.ofSeconds(60)).until(() -> isTold(unusable, words));

        SANDBOXES.bringUp(name, Map.of("image", NAMES + "any-python:1"));

        assertThat(agent.python(name, "6 * 7").result()).isEqualTo("42");
        assertThat(TENANT.sandbox(name).observed().incarnation()).isEqualTo(2);
    }

    private static Sandbox awaitReason(String name, Reason reason) {
        return TENANT.resource(name)
                .waitUntilCondition(
                        sandbox -> sandbox != null
                                && sandbox.observed()
                                        .reason(ConditionType.READY)
                                        .filter(reason::equals)
                                        .isPresent(),
                        5,
                        TimeUnit.MINUTES);
    }

    private static boolean isTold(Sandbox sandbox, String words) {
        return TENANT.kubernetes().events().v1().events().inNamespace(Tenant.NAMESPACE).list().getItems().stream()
                .filter(event -> event.getRegarding() != null
                        && sandbox.getMetadata()
                                .getUid()
                                .equals(event.getRegarding().getUid()))
                .filter(event -> "ImageUnusable".equals(event.getReason()))
                .map(Event::getNote)
                .anyMatch(words::equals);
    }
}
