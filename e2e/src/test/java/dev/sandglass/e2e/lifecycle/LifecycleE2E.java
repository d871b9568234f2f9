package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** From the resource to the pod and back: by an agent's calls, and by kubectl's. */
class LifecycleE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private static final Duration SOON = Duration.ofSeconds(90);

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @Test
    void stopEndsThePodAndKeepsTheResource() {
        String sandbox = SANDBOXES.start(Map.of("envs", Map.of("E2E_KEPT", "yes"), "memory", 300));
        Pod pod = TENANT.podOf(sandbox);
        agent.python(sandbox, "x = 1");

        Answer stopped = agent.call("sandbox_stop", Map.of("sandbox", sandbox));

        assertThat(stopped.failed()).isFalse();
        await("the pod to go").atMost(SOON).until(() -> !TENANT.hasPod(pod));
        assertThat(TENANT.sandbox(sandbox).wanted().suspended()).isTrue();
        assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", sandbox, "code", "x")))
                .contains(sandbox, "sandbox_start");
    }

    @Test
    void aStartAfterAStopHasTheConfigurationAndNotTheVariables() {
        String sandbox = SANDBOXES.start(Map.of("envs", Map.of("E2E_KEPT", "yes"), "memory", 300));
        agent.python(sandbox, "x = 1");
        agent.call("sandbox_stop", Map.of("sandbox", sandbox));

        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();

        Answer first = agent.python(sandbox, "x");
        assertThat(first.object("error").get("name")).isEqualTo("NameError");
        assertThat(first.text()).contains("suspended on request", "variables of earlier calls were lost");
        assertThat(agent.python(sandbox, "import os; os.environ['E2E_KEPT']").result())
                .isEqualTo("'yes'");
        assertThat(TENANT.sandbox(sandbox).wanted().memory().getNumericalAmount())
                .isEqualByComparingTo("314572800");
        assertThat(TENANT.sandbox(sandbox).observed().incarnation()).isEqualTo(2);
    }

    @Test
    void aStartOfARunningSandboxChangesNothing() {
        String sandbox = SANDBOXES.start();
        agent.python(sandbox, "x = 'kept'");

        agent.start(sandbox);

        assertThat(agent.python(sandbox, "x").result()).isEqualTo("'kept'");
    }

    @Test
    void deleteLeavesNothingBehind() {
        String sandbox = SANDBOXES.start();
        String uid = TENANT.sandbox(sandbox).getMetadata().getUid();

        agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));

        await("everything of the sandbox to go").atMost(SOON).untilAsserted(() -> {
            assertThat(TENANT.resource(sandbox).get()).isNull();
            assertThat(TENANT.kubernetes()
                            .pods()
                            .inNamespace(Tenant.NAMESPACE)
                            .list()
                            .getItems())
                    .noneMatch(pod -> pod.getMetadata().getName().contains(uid));
            assertThat(TENANT.kubernetes()
                            .secrets()
                            .inNamespace(Tenant.NAMESPACE)
                            .list()
                            .getItems())
                    .noneMatch(secret -> secret.getMetadata().getName().contains(uid));
            assertThat(TENANT.kubernetes()
                            .network()
                            .networkPolicies()
                            .inNamespace(Tenant.NAMESPACE)
                            .list()
                            .getItems())
                    .noneMatch(policy -> policy.getMetadata().getName().contains(uid));
        });
    }

    @Test
    void aSandboxMadeWithKubectlIsReadyAndRunsCode() {
        String name = SANDBOXES.name();

        applied(name, SandboxSpec.DEFAULT);

        assertThat(agent.python(name, "'made by kubectl'").result()).isEqualTo("'made by kubectl'");
        assertThat(TENANT.sandbox(name).observed().address()).isNotBlank();
    }

    @Test
    void suspendingWithKubectlStopsThePodAndResumingBringsItBack() {
        String name = SANDBOXES.name();
        applied(name, SandboxSpec.DEFAULT);
        Pod pod = TENANT.podOf(name);

        TENANT.change(name, sandbox -> suspended(sandbox, true));
        await("the pod to go").atMost(SOON).until(() -> !TENANT.hasPod(pod));
        await("the status to say so")
                .atMost(SOON)
                .until(() -> TENANT.sandbox(name).observed().holds(ConditionType.SUSPENDED));
        TENANT.change(name, sandbox -> suspended(sandbox, false));
        awaitReady(name);

        assertThat(agent.python(name, "40 + 2").result()).isEqualTo("42");
    }

    private void applied(String name, SandboxSpec spec) {
        TENANT.kubernetes().resource(sandbox(name, spec)).serverSideApply();
        awaitReady(name);
    }

    private static void awaitReady(String name) {
        TENANT.resource(name)
                .waitUntilCondition(
                        sandbox -> sandbox != null
                                && !sandbox.wanted().suspended()
                                && sandbox.observed().holds(ConditionType.READY),
                        5,
                        TimeUnit.MINUTES);
    }

    private static Sandbox sandbox(String name, SandboxSpec spec) {
        var sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(Tenant.NAMESPACE)
                .build());
        sandbox.setSpec(spec);
        return sandbox;
    }

    private static Sandbox suspended(Sandbox sandbox, boolean suspended) {
        sandbox.setSpec(sandbox.wanted().withSuspended(suspended));
        return sandbox;
    }
}
