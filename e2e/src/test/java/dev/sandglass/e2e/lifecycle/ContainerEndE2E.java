package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.StreamedCall;
import dev.sandglass.e2e.support.Tenant;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A container that ends with all that is in it, as cgroup v2 ends one at its memory limit. The node of the tests has
 * cgroup v1, where the kernel's process alone is killed, so the container is ended from outside.
 */
@Isolated("it measures how soon an end is reported")
class ContainerEndE2E {

    // The node looks at its containers each second, and writes what it saw; with the second start it waits for 10 s.
    private static final Duration TOLD = Duration.ofSeconds(8);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String ENDLESS = "import time\nprint('on', flush=True)\ntime.sleep(600)";

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

    private static void crash(String sandbox) {
        Installation.current().ownNode().orElseThrow().crash(TENANT.containerOf(sandbox));
    }

    /** The answer of a call that runs when the container ends. */
    private Answer cutOff(String sandbox) {
        StreamedCall running = agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "code", ENDLESS));
        running.awaitOutput("on\n");
        crash(sandbox);
        long since = System.nanoTime();
        Answer answer = running.answer();
        assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(TOLD);
        return answer;
    }

    private void awaitRunning(String sandbox, int restarts) {
        await("the container to be back").atMost(PATIENCE).until(() -> {
            var seen = TENANT.sandbox(sandbox).observed();
            return seen.address() != null && Integer.valueOf(restarts).equals(seen.restarts());
        });
    }

    @Test
    void whatRanIsToldTheCauseEvenWhileTheNodeWaitsWithTheNextStart() {
        String sandbox = SANDBOXES.start();

        Answer first = cutOff(sandbox);
        awaitRunning(sandbox, 1);
        Answer second = cutOff(sandbox);

        for (Answer cut : new Answer[] {first, second}) {
            assertThat(cut.status()).as(cut.text()).isEqualTo("lost");
            assertThat(cut.text()).contains("exit code 137");
            assertThat(cut.flag("kernel_restarted")).isTrue();
        }
    }

    @Test
    void theNextCallIsToldThatVariablesWereLostWhileNothingRan() {
        String sandbox = SANDBOXES.start();
        agent.python(sandbox, "x = 1\nopen('/workspace/kept', 'w').write('kept')");

        crash(sandbox);
        awaitRunning(sandbox, 1);

        Answer next = agent.python(sandbox, "open('/workspace/kept').read()");
        assertThat(next.result()).isEqualTo("'kept'");
        assertThat(next.flag("kernel_restarted")).isTrue();
        assertThat(next.text()).contains("container was restarted");
        assertThat(agent.python(sandbox, "1").flag("kernel_restarted")).isFalse();
    }

    /** The runtime says OOMKilled of a container in which anything was killed for lack of memory before it ended. */
    @Test
    void aContainerThatEndsForLackOfMemoryIsToldWithItsLimit() {
        String sandbox = SANDBOXES.start(Map.of("memory", 256));
        Answer hog = agent.python(sandbox, "hoard = []\nwhile True: hoard.append(bytearray(1 << 20))");
        assertThat(hog.status()).as(hog.text()).isEqualTo("oom_killed");
        assertThat(hog.text()).contains("memory limit of 256 MiB").containsPattern("peak 25\\d MiB");

        Answer cut = cutOff(sandbox);

        assertThat(cut.status()).as(cut.text()).isEqualTo("oom_killed");
        assertThat(cut.text()).contains("reached its memory limit of 256Mi", "(OOMKilled)");
        awaitRunning(sandbox, 1);
        Sandbox back = TENANT.sandbox(sandbox);
        assertThat(back.observed().restartReason()).isEqualTo("OOMKilled");
        await("the Event")
                .atMost(PATIENCE)
                .until(() -> TENANT.isTold(back, Reason.OOM_KILLED, "reached its memory limit of 256Mi"));
    }
}
