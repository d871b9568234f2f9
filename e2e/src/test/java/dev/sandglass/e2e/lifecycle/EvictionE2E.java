package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.StreamedCall;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** A pod that is put out as when its node is drained: everybody is told why, and the sandbox comes back. */
@Isolated("it measures what follows an eviction")
class EvictionE2E {

    private static final Duration SOON = Duration.ofSeconds(90);
    private static final String ENDLESS = "import time\nx = 1\nprint('on', flush=True)\ntime.sleep(600)";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static void evict(Pod pod) {
        assertThat(TENANT.kubernetes().pods().resource(pod).evict()).isTrue();
    }

    @Test
    void theCallThatRanIsToldWhyAndTheNextOneHowToGoOn() {
        String sandbox = SANDBOXES.start();
        StreamedCall running = agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "code", ENDLESS));
        running.awaitOutput("on\n");

        evict(TENANT.podOf(sandbox));

        Answer cut = running.answer();
        assertThat(cut.status()).as(cut.text()).isEqualTo("lost");
        assertThat(cut.text()).contains("evicted on request", "(Evicted)", "sandbox_start");
        Answer asked = agent.call("sandbox_get_execution", Map.of("execution_id", cut.executionId()));
        assertThat(asked.status()).as(asked.text()).isEqualTo("lost");

        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();
        Answer next = agent.python(sandbox, "'x' in globals()");
        assertThat(next.result()).isEqualTo("False");
        assertThat(next.text()).contains("pod was replaced (Evicted)");
        assertThat(next.flag("kernel_restarted")).isTrue();
        Sandbox back = TENANT.sandbox(sandbox);
        assertThat(back.observed().incarnation()).isEqualTo(2);
        // Its status has moved on by now.
        await("the Event").atMost(SOON).until(() -> TENANT.isTold(back, Reason.EVICTED, "evicted on request"));
    }

    @Test
    void aWorkspaceOutlivesTheEviction() {
        String sandbox = SANDBOXES.start(Map.of("workspace", "64Mi"));
        assertThat(agent.python(sandbox, "open('kept', 'w').write('still here')")
                        .status())
                .isEqualTo("ok");
        Pod pod = TENANT.podOf(sandbox);

        evict(pod);
        await("the pod to go").atMost(SOON).until(() -> !TENANT.hasPod(pod));

        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();
        assertThat(agent.python(sandbox, "open('kept').read()").result()).isEqualTo("'still here'");
    }
}
