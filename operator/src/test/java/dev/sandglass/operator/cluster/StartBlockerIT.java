package dev.sandglass.operator.cluster;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node that cannot start a pod tells so in Events alone. */
class StartBlockerIT {

    private static final Duration SOON = Duration.ofSeconds(20);

    /** The first look comes after 15 s. */
    private static final Duration SLOW = Duration.ofSeconds(40);

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    /** As a kubelet would, of a pod that it was given. */
    private void complain(Pod pod, String reason, String message) {
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        namespace
                .admin
                .resource(new EventBuilder()
                        .withNewMetadata()
                        .withName(pod.getMetadata().getName())
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withNewInvolvedObject()
                        .withApiVersion("v1")
                        .withKind("Pod")
                        .withName(pod.getMetadata().getName())
                        .withNamespace(namespace.name)
                        .withUid(pod.getMetadata().getUid())
                        .endInvolvedObject()
                        .withNewSource()
                        .withComponent("kubelet")
                        .endSource()
                        .withType("Warning")
                        .withReason(reason)
                        .withMessage(message)
                        .withFirstTimestamp(now)
                        // Newer than the scheduler's word, whose time is exact.
                        .withLastTimestamp(
                                Instant.parse(now).plus(1, ChronoUnit.MINUTES).toString())
                        .withCount(1)
                        .build())
                .create();
    }

    @Test
    void theNodesWordsAreTold() {
        try (TestNamespace.Running _ = namespace.operator(Map.of());
                FakeNode node = new FakeNode(namespace, 1)) {
            node.die();
            namespace.create("stuck", SandboxSpec.DEFAULT.withRuntimeClassName(FakeNode.runtimeClass(namespace)));
            Sandbox starting =
                    namespace.await("stuck", SOON, sandbox -> sandbox.observed().podName() != null);
            Pod pod = namespace.pods().getFirst();

            complain(pod, "FailedMount", "MountVolume.SetUp failed: configmap \"settings\" not found");

            namespace.await(starting.getMetadata().getName(), SLOW, sandbox -> sandbox.observed()
                    .condition(ConditionType.READY)
                    .filter(ready -> Reason.VOLUME_MISSING.value().equals(ready.getReason()))
                    .filter(ready -> ready.getMessage()
                            .equals("The node cannot mount a volume (FailedMount): MountVolume.SetUp failed:"
                                    + " configmap \"settings\" not found"))
                    .isPresent());
        }
    }
}
