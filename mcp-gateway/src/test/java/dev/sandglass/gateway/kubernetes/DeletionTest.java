package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Workspace;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.StepVerifier;

/** The end of a sandbox by order, and what may keep it. */
@SuppressWarnings("NullAway.Init")
class DeletionTest {

    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    @RegisterExtension
    final MockApi server = new MockApi(new NamesWhatIsMissing());

    private final KubernetesClient client = server.client();
    private KubernetesSandboxes sandboxes;
    private FakeOperator operator;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(client);
        operator = new FakeOperator(client, REF);
        operator.answersWithReady();
        sandboxes = new KubernetesSandboxes(
                client, List.of("sandglass-default"), SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    @Test
    void aDeletedOneIsGoneWhenTheOrderIsDone() {
        var kept = Workspace.of("64Mi", null, true);
        var config = new SandboxConfig(null, null, null, null, null, null, kept, null, null, null, null, null, null);
        sandboxes.start(REF, config, "alice", () -> {}).block(SOON);

        assertThat(sandboxes.delete(REF).block(SOON)).isEqualTo(Deletion.of(WorkspaceEnd.KEPT));

        StepVerifier.create(sandboxes.running(REF)).verifyError(SandboxProblem.NotFound.class);
        assertThat(sandboxes.list("default", REF.namespace())).isEmpty();
    }

    /** Until its finalizers are gone no garbage is collected, and the operator may be of an earlier version. */
    @Tag("slow")
    @Test
    void oneThatFinalizersHoldIsStopped() {
        sandboxes.start(REF, SandboxConfig.UNCHANGED, "alice", () -> {}).block(SOON);
        operator.holdBy("example.com/backup");

        assertThat(sandboxes.delete(REF).block(SOON))
                .isEqualTo(new Deletion(WorkspaceEnd.SCRATCH, List.of("example.com/backup")));

        assertThat(operator.resource().isMarkedForDeletion()).isTrue();
        assertThat(operator.resource().wanted().suspended()).isTrue();
    }

    @Test
    void whatIsNotThereIsNotDeleted() {
        StepVerifier.create(sandboxes.delete(REF)).verifyError(SandboxProblem.NotFound.class);
    }
}
