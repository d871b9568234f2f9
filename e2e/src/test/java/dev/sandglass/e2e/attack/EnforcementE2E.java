package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.StreamedCall;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Sandboxes find out whether their NetworkPolicies hold. Policies add up, so that one more, which opens all of one
 * sandbox's ways out, makes of this cluster one that enforces nothing for that sandbox alone.
 */
@Isolated("it opens the NetworkPolicies of the tenant")
class EnforcementE2E {

    private static final String REACHED = "which its NetworkPolicies must close";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Deque<NetworkPolicy> opened = new ArrayDeque<>();

    @AfterEach
    void closeAgain() {
        while (!opened.isEmpty()) {
            TENANT.kubernetes().resource(opened.pop()).delete();
        }
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private void open(Sandbox sandbox) {
        opened.push(TENANT.kubernetes()
                .resource(new NetworkPolicyBuilder()
                        .withNewMetadata()
                        .withName("e2e-opens-" + sandbox.getMetadata().getName())
                        .withNamespace(Tenant.NAMESPACE)
                        .endMetadata()
                        .withNewSpec()
                        .withNewPodSelector()
                        .addToMatchLabels(
                                SandboxLabels.SANDBOX_UID, sandbox.getMetadata().getUid())
                        .endPodSelector()
                        .withPolicyTypes("Egress")
                        .withEgress(new NetworkPolicyEgressRule())
                        .endSpec()
                        .build())
                .create());
    }

    private static Sandbox resting(String name) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(name);
        sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
        sandbox.setSpec(SandboxSpec.DEFAULT.withSuspended(true));
        return TENANT.kubernetes().resource(sandbox).create();
    }

    /** The operator names something to try, else this class would show nothing. */
    @Test
    void wherePoliciesHoldCodeRuns() {
        String sandbox = SANDBOXES.start();

        assertThat(SANDBOXES.agent().python(sandbox, "1 + 1").result()).isEqualTo("2");
        assertThat(TENANT.podOf(sandbox).getSpec().getContainers().getFirst().getEnv())
                .anySatisfy(variable -> {
                    assertThat(variable.getName()).isEqualTo("SANDGLASS_CLOSED_ADDRESSES");
                    assertThat(variable.getValue()).isNotBlank();
                });
    }

    @Test
    void whereTheyDoNotNothingRunsAndTheReasonIsTold() {
        String name = SANDBOXES.name();
        open(resting(name));
        // It may be called running before the plugin has opened its ways: the run then ends with the reason.
        Answer start = SANDBOXES.bringUp(name);

        Answer run = start.failed() ? start : SANDBOXES.agent().python(name, "import time; time.sleep(30)");
        assertThat(run.failed()).as(run.text()).isTrue();
        assertThat(run.text()).contains(REACHED, "'NetworkPolicies that are not enforced'");
        Answer code = SANDBOXES.agent().python(name, "1");
        assertThat(code.status()).isEqualTo("rejected");
        assertThat(code.text()).startsWith("[rejected] Not started: ").contains(REACHED);
        Answer command = SANDBOXES.agent().command(name, "id");
        assertThat(command.status()).isEqualTo("rejected");
        assertThat(command.text()).contains(REACHED);
        assertThat(SANDBOXES
                        .agent()
                        .call("sandbox_write_file", Map.of("sandbox", name, "path", "a", "content", "kept"))
                        .failed())
                .as("files can still be fetched")
                .isFalse();
    }

    /** A sandbox looks for nine seconds: what a busy node opens later shows nothing, and is done with another one. */
    @Test
    void whatRunsWhenTheyCeaseToHoldEndsWithTheReason() {
        Answer answer = await("ways that open while the sandbox looks")
                .atMost(Duration.ofMinutes(5))
                .until(this::runWhileWaysOpen, ended -> !ended.status().equals("ok"));

        assertThat(answer.status()).as(answer.text()).isEqualTo("interrupted");
        assertThat(answer.failed()).isTrue();
        assertThat(answer.text()).startsWith("[interrupted] ").contains("\nbegun", "The run was ended.", REACHED);
    }

    private Answer runWhileWaysOpen() {
        String sandbox = SANDBOXES.start();
        Sandbox found = TENANT.sandbox(sandbox);
        StreamedCall run = SANDBOXES.agent().stream(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "print('begun', flush=True)\nimport time\ntime.sleep(20)"));
        run.awaitOutput("begun");
        open(found);
        Answer answer = run.answer();
        SANDBOXES.agent().call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));
        return answer;
    }
}
