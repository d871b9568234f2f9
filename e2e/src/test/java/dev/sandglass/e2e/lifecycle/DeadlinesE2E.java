package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How long a sandbox lives: by what an agent says of it, and by what kubectl writes. */
class DeadlinesE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private static final Path EXAMPLES = Path.of("../crds/examples");

    /** No seat has it: a claimed pod's deadline counts the seat's life too, and ExamplesE2E makes a pool beside this class. */
    private static final SandboxSpec OWN_SIZE = new SandboxSpec(null, new Quantity("496Mi"), null, null, null, false);

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static boolean suspendedFor(Sandbox sandbox, Reason reason) {
        return sandbox.observed().holds(ConditionType.SUSPENDED)
                && sandbox.observed()
                        .reason(ConditionType.SUSPENDED)
                        .filter(reason::equals)
                        .isPresent();
    }

    /** It is told by both conditions and an Event, in the same words. */
    private static void awaitSuspended(String name, Reason reason) {
        Sandbox suspended = TENANT.resource(name)
                .waitUntilCondition(sandbox -> sandbox != null && suspendedFor(sandbox, reason), 120, TimeUnit.SECONDS);
        Condition ready = suspended.observed().condition(ConditionType.READY).orElseThrow();
        assertThat(ready.getReason()).isEqualTo(reason.value());
        await("the Event")
                .atMost(Duration.ofSeconds(60))
                .until(() -> TENANT.isTold(suspended, reason, ready.getMessage()));
    }

    private static Sandbox awaitReady(String name) {
        return TENANT.resource(name)
                .waitUntilCondition(
                        sandbox -> sandbox != null && sandbox.observed().holds(ConditionType.READY),
                        5,
                        TimeUnit.MINUTES);
    }

    private static Sandbox made(String name, SandboxSpec spec) {
        var sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(Tenant.NAMESPACE)
                .build());
        sandbox.setSpec(spec);
        return TENANT.kubernetes().resource(sandbox).create();
    }

    private static void edit(String name, SandboxSpec spec) {
        TENANT.change(name, sandbox -> {
            sandbox.setSpec(spec);
            return sandbox;
        });
    }

    private static SandboxSpec specOf(String example) throws IOException {
        SandboxSpec wanted = Serialization.unmarshal(Files.readString(EXAMPLES.resolve(example)), Sandbox.class)
                .wanted();
        return OWN_SIZE.withIdleTimeout(wanted.idleTimeout())
                .withMaxLifetime(wanted.maxLifetime())
                .withRetention(wanted.retention());
    }

    /** The answer of a run that brings its sandbox back. */
    private static Answer resumed(String sandbox, String code) {
        return SANDBOXES.callWhereThereIsRoom("sandbox_run_code", Map.of("sandbox", sandbox, "code", code));
    }

    @Test
    void oneThatNobodyUsedIsSuspendedAndTheNextCallBringsItBackAndSaysSo() {
        String sandbox = SANDBOXES.start(Map.of("idle_timeout", "10s"));
        // Until its time-out is over a run counts as use.
        agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", "x = 1", "timeout", 2));
        Pod pod = TENANT.podOf(sandbox);
        awaitSuspended(sandbox, Reason.IDLE);
        // A call at this very moment would meet a replica that has not heard of it, and be told `lost`.
        await("the end of the pod").atMost(Duration.ofSeconds(90)).until(() -> !TENANT.hasPod(pod));

        Answer back = resumed(sandbox, "'x' in globals()");

        assertThat(back.result()).isEqualTo("False");
        assertThat(back.flag("kernel_restarted")).isTrue();
        assertThat(back.text()).contains("suspended because nobody used it", "variables of earlier calls were lost");
        assertThat(back.text()).containsOnlyOnce("was suspended");
        Answer next = agent.python(sandbox, "1 + 1");
        assertThat(next.flag("kernel_restarted")).isFalse();
        assertThat(next.text()).isEqualTo("2");
    }

    @Test
    void whoeverBringsItBackTheFirstRunOfEachSessionIsTold() {
        String sandbox = SANDBOXES.start(Map.of("idle_timeout", "10s"));
        agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", "x = 1", "timeout", 2));
        Pod pod = TENANT.podOf(sandbox);
        awaitSuspended(sandbox, Reason.IDLE);
        await("the end of the pod").atMost(Duration.ofSeconds(90)).until(() -> !TENANT.hasPod(pod));

        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();

        Answer first = agent.python(sandbox, "40 + 2");
        assertThat(first.result()).isEqualTo("42");
        assertThat(first.flag("kernel_restarted")).isTrue();
        assertThat(first.text()).containsOnlyOnce("suspended because nobody used it");
        Map<String, Object> elsewhere = Map.of("sandbox", sandbox, "code", "1 + 1", "session", "other");
        assertThat(agent.call("sandbox_run_code", elsewhere).text()).contains("suspended because nobody used it");
        assertThat(agent.python(sandbox, "1 + 1").text()).isEqualTo("2");
    }

    @Test
    void aRunThatTakesLongerThanTheIdleTimeIsNotSuspended() {
        String sandbox = SANDBOXES.start(Map.of("idle_timeout", 10));

        Answer slow = agent.python(sandbox, "import time; time.sleep(20); 'done'");

        assertThat(slow.result()).isEqualTo("'done'");
        assertThat(slow.flag("kernel_restarted")).isFalse();
    }

    @Test
    void theMaximumLifetimeEndsWhatRunsAndTheNextCallSaysWhy() {
        String sandbox = SANDBOXES.start(Map.of("max_lifetime", "20s"));
        Pod pod = TENANT.podOf(sandbox);

        Answer cut = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", "import time; time.sleep(120)", "wait", 110));
        awaitSuspended(sandbox, Reason.MAX_LIFETIME);
        await("the end of the pod").atMost(Duration.ofSeconds(90)).until(() -> !TENANT.hasPod(pod));
        Answer back = resumed(sandbox, "40 + 2");

        assertThat(cut.status()).isEqualTo("lost");
        assertThat(back.result()).isEqualTo("42");
        assertThat(back.text()).contains("suspended because it reached its maximum lifetime");
    }

    @Test
    void aStartThatMakesARunningSandboxTooOldGivesAFreshOne() {
        String sandbox = SANDBOXES.start();
        Instant started =
                Instant.parse(String.valueOf(TENANT.sandbox(sandbox).observed().startedAt()));
        await().atMost(Duration.ofSeconds(30)).until(() -> Instant.now().isAfter(started.plusSeconds(21)));

        Answer again = SANDBOXES.callWhereThereIsRoom(
                "sandbox_start", Map.of("sandbox", sandbox, "config", Map.of("max_lifetime", "20s")));

        assertThat(again.failed()).as(again.text()).isFalse();
        assertThat(TENANT.sandbox(sandbox).observed().incarnation()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void editsOfDeadlinesHoldAtOnceButForALongerLife() {
        String name = SANDBOXES.name();
        made(name, OWN_SIZE);
        Sandbox before = awaitReady(name);
        Pod pod = TENANT.podOf(name);
        agent.python(name, "x = 'kept'");

        edit(name, OWN_SIZE.withMaxLifetime("2h").withIdleTimeout("1h"));
        await("the node to be told")
                .atMost(Duration.ofSeconds(60))
                .until(() -> TENANT.podOf(name).getSpec().getActiveDeadlineSeconds() == 7200);
        edit(name, OWN_SIZE.withMaxLifetime("12h"));
        TENANT.resource(name)
                .waitUntilCondition(
                        sandbox -> sandbox.observed()
                                .reason(ConditionType.READY)
                                .filter(Reason.UPDATE_PENDING::equals)
                                .isPresent(),
                        60,
                        TimeUnit.SECONDS);

        assertThat(TENANT.podOf(name).getSpec().getActiveDeadlineSeconds()).isEqualTo(7200);
        assertThat(TENANT.podOf(name).getMetadata().getUid())
                .isEqualTo(pod.getMetadata().getUid());
        assertThat(TENANT.sandbox(name).observed().expiresAt())
                .isEqualTo(Instant.parse(String.valueOf(before.observed().startedAt()))
                        .plus(Duration.ofHours(2))
                        .toString());
        assertThat(agent.python(name, "x").result()).isEqualTo("'kept'");
    }

    @Test
    void oneThatWasSuspendedForItsRetentionIsDeleted() {
        String name = SANDBOXES.name();
        made(name, OWN_SIZE.withRetention("10s").withSuspended(true));

        await("the resource to go")
                .atMost(Duration.ofSeconds(90))
                .until(() -> TENANT.resource(name).get() == null);
    }

    @Test
    void theExamplesGetThePodsTheyAskFor() throws IOException {
        String brief = SANDBOXES.name();
        String lasting = SANDBOXES.name();
        made(brief, specOf("short-lived.yaml"));
        made(lasting, specOf("long-running.yaml"));
        awaitReady(brief);
        awaitReady(lasting);

        assertThat(TENANT.podOf(brief).getSpec().getActiveDeadlineSeconds()).isEqualTo(3600);
        assertThat(TENANT.podOf(lasting).getSpec().getActiveDeadlineSeconds()).isEqualTo(72 * 3600);
    }

    /** Not the example's: ExamplesE2E, which may run beside this class, makes a RuntimeClass of that name. */
    @Test
    void aRuntimeClassThatTheClusterLacksFailsTheStartWithTheCause() {
        String wanted = "nothing-like-it";

        String refusal = agent.refusal(
                "sandbox_start", Map.of("sandbox", SANDBOXES.name(), "config", Map.of("runtime_class", wanted)));

        assertThat(refusal).contains("PodRefused", wanted);
    }

    @Test
    void whatIsNoDurationIsRefusedByBothDoorsWithTheRule() {
        String rule = "must be a duration from 10s to 720h in hours, minutes and seconds";
        assertThat(agent.refusal(
                        "sandbox_start", Map.of("sandbox", SANDBOXES.name(), "config", Map.of("idle_timeout", "soon"))))
                .contains("'config.idle_timeout' " + rule);
        assertThatThrownBy(() -> made(SANDBOXES.name(), OWN_SIZE.withIdleTimeout("soon")))
                .hasMessageContaining("idleTimeout " + rule);
    }
}
