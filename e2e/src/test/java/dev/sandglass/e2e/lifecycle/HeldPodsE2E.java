package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who may edit Sandboxes adds a finalizer and deletes: the pod ends all the same. */
class HeldPodsE2E {

    private static final String FINALIZER = "example.com/hold";
    private static final Duration SOON = Duration.ofMinutes(2);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static void hold(String sandbox) {
        TENANT.change(sandbox, found -> {
            found.addFinalizer(FINALIZER);
            return found;
        });
    }

    private static void letGo(String sandbox) {
        TENANT.change(sandbox, found -> {
            found.removeFinalizer(FINALIZER);
            return found;
        });
        await().atMost(SOON).until(() -> TENANT.resource(sandbox).get() == null);
    }

    @ParameterizedTest
    @EnumSource(DeletionPropagation.class)
    void aPodEndsWhenItsSandboxIsDeleted(DeletionPropagation how) {
        String sandbox = SANDBOXES.start();
        Pod pod = TENANT.podOf(sandbox);
        hold(sandbox);
        try {
            TENANT.resource(sandbox).withPropagationPolicy(how).delete();

            await().atMost(SOON).until(() -> !TENANT.hasPod(pod));
            assertThat(TENANT.sandbox(sandbox).isMarkedForDeletion())
                    .as("it was the operator, not the end of the resource")
                    .isTrue();
        } finally {
            letGo(sandbox);
        }
    }

    /** That is a finalizer of Kubernetes' own, behind which the pod belongs to nothing. */
    @Test
    void aPodThatIsOrphanedEnds() {
        String sandbox = SANDBOXES.start();
        Pod pod = TENANT.podOf(sandbox);

        TENANT.resource(sandbox)
                .withPropagationPolicy(DeletionPropagation.ORPHAN)
                .delete();

        await().atMost(SOON).until(() -> !TENANT.hasPod(pod));
        await().atMost(SOON).until(() -> TENANT.resource(sandbox).get() == null);
    }

    @Test
    void itsConditionsNameWhatKeepsIt() {
        String sandbox = SANDBOXES.start();
        hold(sandbox);
        try {
            TENANT.resource(sandbox).delete();

            await().atMost(SOON).untilAsserted(() -> assertThat(TENANT.sandbox(sandbox)
                            .observed()
                            .condition(ConditionType.SUSPENDED)
                            .map(Condition::getMessage))
                    .hasValueSatisfying(message -> assertThat(message).contains("is being deleted", FINALIZER)));
        } finally {
            letGo(sandbox);
        }
    }

    @Test
    void sandboxStopSaysWhatIsTrue() {
        String sandbox = SANDBOXES.start();
        Pod pod = TENANT.podOf(sandbox);
        hold(sandbox);
        try {
            Answer stopped = agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));

            assertThat(stopped.text()).contains("its pod ends", FINALIZER);
            await().atMost(SOON).until(() -> !TENANT.hasPod(pod));
        } finally {
            letGo(sandbox);
        }
    }
}
