package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.lifecycle.ExamplesE2E.Example;
import dev.sandglass.e2e.support.Kubectl;
import java.time.Duration;
import java.time.Instant;

/** The examples that need nothing but themselves. */
record PlainExamples(Kubectl kubectl) {

    /** Prints the environment of every process that the caller may look into. */
    private static final String ENVIRONMENTS = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";

    /** Behind this a condition says how a sleeping sandbox is started by hand. */
    private static final String WITH_KUBECTL = ", or: kubectl ";

    private static final Duration SOON = Duration.ofMinutes(2);

    private String limit(String sandbox, String resource) {
        return pod(sandbox, ".spec.containers[0].resources.limits." + resource);
    }

    private String pod(String sandbox, String path) {
        return kubectl.run("get", "pod", kubectl.field(sandbox, ".status.podName"), "--output=jsonpath={" + path + "}");
    }

    private Duration between(String sandbox, String from, String to) {
        return Duration.between(
                Instant.parse(kubectl.field(sandbox, ".status." + from)),
                Instant.parse(kubectl.field(sandbox, ".status." + to)));
    }

    private void applied(Example example) {
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(example.name());
    }

    private void restarted(String sandbox) {
        kubectl.patch(sandbox, "{\"suspended\":true}");
        kubectl.awaitReason(sandbox, "Suspended", "Requested");
        kubectl.patch(sandbox, "{\"suspended\":false}");
        kubectl.awaitReady(sandbox);
    }

    void runs(Example example) {
        applied(example);

        assertThat(kubectl.told(example.name(), "Ready")).isEqualTo("Running: The sandbox runs");
        assertThat(kubectl.in(example.name(), "python3", "-c", "print(6 * 7)")).isEqualTo("42\n");
    }

    void hasItsSizeAndVariables(Example example) {
        String name = example.name();
        applied(example);

        assertThat(limit(name, "memory")).isEqualTo("2Gi");
        assertThat(limit(name, "cpu")).isEqualTo("1500m");
        assertThat(limit(name, "ephemeral-storage")).isEqualTo("4Gi");
        await("the kernel's variables")
                .atMost(SOON)
                .until(
                        () -> kubectl.in(name, "sh", "-c", ENVIRONMENTS).lines().toList(),
                        lines -> lines.contains("DATASET=rainfall") && lines.contains("PYTHONPATH=/workspace/lib"));

        kubectl.patch(name, "{\"memory\":\"1Gi\"}");
        kubectl.awaitReason(name, "Ready", "UpdatePending");
        assertThat(limit(name, "memory")).isEqualTo("2Gi");
        restarted(name);
        assertThat(limit(name, "memory")).isEqualTo("1Gi");
    }

    void keepsItsSeats(Example example) {
        String pool = "sandboxpools.sandglass.dev/" + example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.run("wait", "--for=jsonpath={.status.readyReplicas}=2", pool, "--timeout=200s");

        kubectl.run("scale", pool, "--replicas=1");
        kubectl.run("wait", "--for=jsonpath={.status.replicas}=1", pool, "--timeout=60s");

        kubectl.run("delete", pool);
        // Of its default size: a class beside this one may have claimed a seat, which stays.
        String seats = "--selector=sandglass.dev/pool=" + example.name() + ",!sandglass.dev/sandbox-uid";
        await("garbage collection").atMost(SOON).until(() -> kubectl.run("get", "pods", seats, "--output=name")
                .isEmpty());
    }

    void hasItsSandbox(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.run("wait", "--for=condition=Ready", "sandboxtoolservers.sandglass.dev/" + name, "--timeout=200s");

        assertThat(kubectl.field(name + "-mcp", ".spec.allowedDomains[*]")).isEqualTo("packages.example.com");
        assertThat(limit(name + "-mcp", "memory")).isEqualTo("256Mi");

        kubectl.run("delete", "sandboxtoolservers.sandglass.dev", name);
        await("garbage collection").atMost(SOON).until(() -> kubectl.run(
                        "get", "sandboxes.sandglass.dev", name + "-mcp", "--ignore-not-found", "--output=name")
                .isEmpty());
    }

    void waitsForItsTurn(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReason(name, "Suspended", "Requested");
        assertThat(kubectl.field(name, ".status.podName")).isEmpty();

        kubectl.patch(name, "{\"suspended\":false}");
        kubectl.awaitReady(name);
        kubectl.in(name, "touch", "/workspace/note");
        kubectl.patch(name, "{\"suspended\":true}");
        kubectl.awaitReason(name, "Suspended", "Requested");
        // Removing the line is as good as writing false.
        kubectl.patch(name, "{\"suspended\":null}");
        kubectl.awaitReady(name);

        assertThat(kubectl.in(name, "ls", "/workspace")).isEmpty();
    }

    void livesByItsOwnDeadlines(Example example) {
        String name = example.name();
        applied(example);
        assertThat(between(name, "startedAt", "expiresAt")).isEqualTo(Duration.ofHours(1));
        assertThat(pod(name, ".spec.activeDeadlineSeconds"))
                .as("what the node sees to")
                .isEqualTo("3600");

        kubectl.patch(name, "{\"idleTimeout\":\"10s\"}");
        kubectl.awaitReason(name, "Suspended", "Idle");
        assertThat(between(name, "suspendedAt", "expiresAt")).isEqualTo(Duration.ofHours(2));
        kubectl.patch(name, "{\"idleTimeout\":\"5m\"}");
        wake(name);
        kubectl.awaitReady(name);
        assertThat(kubectl.field(name, ".status.incarnation")).isEqualTo("2");

        kubectl.patch(name, "{\"maxLifetime\":\"2h\"}");
        kubectl.awaitReason(name, "Ready", "UpdatePending");
        kubectl.patch(name, "{\"maxLifetime\":\"10s\"}");
        kubectl.awaitReason(name, "Suspended", "MaxLifetime");
        kubectl.patch(name, "{\"retention\":\"10s\"}");
        await("the resource to go").atMost(SOON).until(() -> kubectl.run(
                        "get", "sandboxes.sandglass.dev", name, "--ignore-not-found")
                .isEmpty());
    }

    /** Does what the condition says, to the letter. */
    private void wake(String sandbox) {
        String told = kubectl.told(sandbox, "Suspended");
        assertThat(told).contains(WITH_KUBECTL);
        kubectl.run(told.substring(told.indexOf(WITH_KUBECTL) + WITH_KUBECTL.length())
                .split(" "));
    }

    void livesForDays(Example example) {
        String name = example.name();
        applied(example);
        assertThat(between(name, "startedAt", "expiresAt")).isEqualTo(Duration.ofDays(3));

        kubectl.patch(name, "{\"suspended\":true}");
        kubectl.awaitReason(name, "Suspended", "Requested");

        assertThat(between(name, "suspendedAt", "expiresAt")).isEqualTo(Duration.ofDays(30));
        assertThat(kubectl.field(name, ".spec.idleTimeout")).isEqualTo("24h");
    }
}
