package dev.sandglass.operator;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rounds that follow each other by themselves, of a whole operator against a stand-in for the API server. */
@EnableKubernetesMockClient(crud = true)
class RoundsTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration RETENTION = Duration.ofHours(24);

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    @SuppressWarnings("NullAway.Init")
    private RunningOperator operator;

    @BeforeEach
    void start() {
        server.expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(Sandbox.class));
        operator = new RunningOperator(
                OperatorSettings.of(Map.of(
                        "OPERATOR_NAMESPACES", "tenant-a",
                        "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
                        "OPERATOR_LINK_SECRET_FILE", "unused",
                        "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system")),
                new Secrets(TestNamespace.LINK_SECRET, Optional.empty()),
                client,
                new SimpleMeterRegistry(),
                why -> {});
        operator.start();
    }

    @AfterEach
    void stop() {
        operator.close();
    }

    /** A sandbox that fell asleep at that time. */
    private Sandbox asleep(Instant since) {
        String suspendedAt = since.truncatedTo(ChronoUnit.MILLIS).toString();
        SandboxStatus status = new SandboxStatus(
                1L,
                Statuses.suspended(Reason.IDLE).conditions(),
                null,
                null,
                1,
                null,
                suspendedAt,
                null,
                null,
                null,
                null);
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", status);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return client.resource(sandbox).create();
    }

    private boolean isGone(Sandbox sandbox) {
        return client.resource(sandbox).get() == null;
    }

    @Test
    void aWriteInTheMomentOfItsDeletionDoesNotKeepASandbox() {
        server.expect()
                .delete()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/demo")
                .andReturn(
                        409,
                        new StatusBuilder().withCode(409).withReason("Conflict").build())
                .once();

        Sandbox sandbox = asleep(Instant.now().minus(RETENTION));

        await().atMost(SOON).until(() -> isGone(sandbox));
    }
}
