package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Node;
import dev.sandglass.e2e.support.Tenant;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** What metrics say, held against what the node's kernel accounts. */
@Isolated("it measures processor time and memory")
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

        double told = number(figuresOf(sandbox), "memory_usage");
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
                .atMost(Duration.ofSeconds(60))
                .until(() -> metricsOf(sandbox).get("cpu_usage") instanceof Number cpu && cpu.doubleValue() > 20);
    }

    @Test
    void theLimitsAreThoseOfTheSandbox() {
        String sandbox = SANDBOXES.start(Map.of("memory", 384, "cpus", "500m", "disk", "1Gi"));

        Map<?, ?> metrics = figuresOf(sandbox);

        assertThat(number(metrics, "memory_limit")).isEqualTo(384);
        assertThat(number(metrics, "cpu_limit")).isEqualTo(0.5);
        assertThat(number(metrics, "disk_limit")).isEqualTo(1024 * MIB);
        assertThat(number(metrics, "memory_usage")).isPositive().isLessThan(384);
        assertThat(number(metrics, "pids")).isPositive().isLessThan(192);
        assertThat(number(metrics, "pids_limit")).as("one for each 2 MiB").isEqualTo(192);
        assertThat(number(metrics, "uptime")).isPositive();
        assertThat(number(metrics, "oom_kills")).isZero();
    }

    @Test
    void theCodeIsHeldToItsPortionAndToldSo() {
        String sandbox = SANDBOXES.start(Map.of("memory", 384, "cpus", "1500m"));

        Answer told = agent.python(sandbox, "import os; (os.cpu_count(), os.environ['OMP_NUM_THREADS'])");
        Answer refused = agent.python(sandbox, """
                import threading
                for _ in range(192):
                    threading.Thread(target=threading.Event().wait, daemon=True).start()
                """);

        assertThat(told.result()).isEqualTo("(2, '2')");
        assertThat(refused.status()).as(refused.text()).isEqualTo("error");
        assertThat(refused.text()).contains("can't start new thread", "192 at a time", "more memory");
    }

    @Test
    void processorTimeAndProcessesGrowWithWhatRuns() {
        String sandbox = SANDBOXES.start();
        Map<?, ?> before = figuresOf(sandbox);

        agent.python(sandbox, """
                import subprocess, time
                held = [subprocess.Popen(["sleep", "600"]) for _ in range(20)]
                until = time.process_time() + 1
                while time.process_time() < until: pass
                """);
        agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "session", "second", "code", "1"));
        Map<?, ?> after = figuresOf(sandbox);

        assertThat(number(after, "pids")).isGreaterThanOrEqualTo(number(before, "pids") + 15);
        assertThat(number(after, "cpu_seconds")).isGreaterThan(number(before, "cpu_seconds") + 0.9);
        assertThat(number(before, "kernels")).isEqualTo(1);
        assertThat(number(after, "kernels")).isEqualTo(2);
    }

    @Test
    void filesOfTheWorkspaceAndTemporaryOnesAreDiskUsage() {
        String sandbox = SANDBOXES.start();

        agent.python(sandbox, """
                for path in ("/workspace/big", "/tmp/big"):
                    with open(path, "wb") as file:
                        for _ in range(32): file.write(bytes(1 << 20))
                """);

        // The count of files is kept for ten seconds.
        await("the files to be counted")
                .atMost(Duration.ofSeconds(30))
                .until(() ->
                        metricsOf(sandbox).get("disk_usage") instanceof Number disk && disk.doubleValue() >= 64 * MIB);
    }

    @Test
    void networkBytesGrowWithThePodsTrafficAndNotWithItsLoopback() {
        String sandbox = SANDBOXES.start();
        Map<?, ?> before = figuresOf(sandbox);
        // The link is traffic too: the call that asks came over it.
        assertThat(number(before, "network_received")).isPositive();
        assertThat(number(before, "network_sent")).isPositive();

        agent.python(sandbox, """
                import socket, threading
                server = socket.create_server(("127.0.0.1", 0))
                client = socket.create_connection(server.getsockname())
                peer, _ = server.accept()
                threading.Thread(target=lambda: [client.sendall(bytes(1 << 20)) for _ in range(32)]).start()
                left = 32 << 20
                while left: left -= len(peer.recv(min(left, 1 << 16)))
                """);
        Map<?, ?> looped = figuresOf(sandbox);
        agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "print('x' * (8 << 20))", "max_output_chars", 1000));
        Map<?, ?> after = figuresOf(sandbox);

        assertThat(number(looped, "network_sent") - number(before, "network_sent"))
                .as("bytes sent while 32 MiB went over the loopback")
                .isPositive()
                .isLessThan(4 * MIB);
        assertThat(number(after, "network_sent") - number(looped, "network_sent"))
                .as("bytes sent while 8 MiB were printed")
                .isGreaterThan(7 * MIB);
    }

    @Test
    void aStoppedSandboxIsListedAsNotRunningWithoutFigures() {
        String sandbox = SANDBOXES.start();
        assertThat(metricsOf(sandbox).get("running")).isEqualTo(true);

        agent.call("sandbox_stop", Map.of("sandbox", sandbox));
        Map<?, ?> metrics = await("the stop, of which a replica hears a moment later")
                .atMost(Duration.ofSeconds(60))
                .until(() -> metricsOf(sandbox), told -> Boolean.FALSE.equals(told.get("running")));

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

    /** With its figures, which are left out when the sandbox does not answer in time. */
    private Map<?, ?> figuresOf(String sandbox) {
        return await("figures")
                .atMost(Duration.ofSeconds(60))
                .until(() -> metricsOf(sandbox), metrics -> metrics.get("memory_usage") instanceof Number);
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
