package dev.sandglass.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What metrics say, held against what the node's kernel accounts. */
class MetricsE2E {

    private static final double MIB = 1024 * 1024;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();
    private final Agent agent = SANDBOXES.agent();

    @Test
    void memoryUnderLoadIsWithinTenPercentOfThePodsCgroup() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        Node node = installation.ownNode().orElseThrow();
        String sandbox = SANDBOXES.start(Map.of("memory", 768));
        String pod = podUidOf(sandbox);
        double idle = node.workingSetOf(pod) / MIB;
        // Real pages, a writer that keeps touching them, and files whose cache must not be counted.
        agent.python(sandbox, """
                import threading, itertools
                held = bytearray(b"x") * (300 << 20)
                with open("/workspace/big", "wb") as file:
                    for _ in range(64): file.write(bytes(1 << 20))
                def churn():
                    for i in itertools.count():
                        held[(i * 4096) % len(held)] = i % 256
                threading.Thread(target=churn, daemon=True).start()
                """);

        double told = number(metricsOf(sandbox), "memory_usage");
        double accounted = node.workingSetOf(pod) / MIB;

        assertThat(accounted).as("load shows at all").isGreaterThan(idle + 250);
        assertThat(told).isCloseTo(accounted, within(accounted * 0.10));
    }

    @Test
    void cpuOfABusySandboxIsTold() {
        String sandbox = SANDBOXES.start();
        agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "while True: pass", "background", true, "timeout", 60));

        await("CPU usage to show")
                .atMost(Duration.ofSeconds(15))
                .until(() -> metricsOf(sandbox).get("cpu_usage") instanceof Number cpu && cpu.doubleValue() > 20);
    }

    @Test
    void aStoppedSandboxIsListedAsNotRunningWithoutFigures() {
        String sandbox = SANDBOXES.start();
        assertThat(metricsOf(sandbox).get("running")).isEqualTo(true);

        agent.call("sandbox_stop", Map.of("sandbox", sandbox));
        Map<?, ?> metrics = metricsOf(sandbox);

        assertThat(metrics.get("running")).isEqualTo(false);
        assertThat(metrics.get("memory_usage")).isNull();
        assertThat(metrics.get("cpu_usage")).isNull();
    }

    @Test
    void aWildcardListsAllThatTheCallerMaySee() {
        String one = SANDBOXES.start();
        String two = SANDBOXES.start();

        Answer all = agent.call("sandbox_get_metrics", Map.of("namespace", "*"));

        assertThat(all.list("sandboxes"))
                .extracting(entry -> ((Map<?, ?>) entry).get("name"))
                .map(Object::toString)
                .contains(one, two);
        assertThat(all.list("sandboxes"))
                .extracting(entry -> ((Map<?, ?>) entry).get("namespace"))
                .map(Object::toString)
                .containsOnly("default");
    }

    private Map<?, ?> metricsOf(String sandbox) {
        Answer answer = agent.call("sandbox_get_metrics", Map.of("sandbox", sandbox));
        assertThat(answer.list("sandboxes")).hasSize(1);
        Map<?, ?> metrics = (Map<?, ?>) answer.list("sandboxes").getFirst();
        assertThat(metrics.get("name")).isEqualTo(sandbox);
        return metrics;
    }

    private static double number(Map<?, ?> metrics, String field) {
        if (metrics.get(field) instanceof Number number) {
            return number.doubleValue();
        }
        throw new AssertionError("no number '" + field + "' in " + metrics);
    }

    private String podUidOf(String sandbox) {
        try (Tenant tenant = Tenant.of(installation)) {
            return tenant.podOf(sandbox).getMetadata().getUid();
        }
    }
}
