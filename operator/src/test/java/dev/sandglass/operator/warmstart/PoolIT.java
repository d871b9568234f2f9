package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ChildNames;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Pools of an operator in this process, against a real API server and a real node, with its own rights only. */
class PoolIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static TestNamespace namespace;
    private static TestNamespace.Running operator;

    @BeforeAll
    static void start() {
        namespace = new TestNamespace();
        operator = namespace.operator(Map.of("OPERATOR_ALLOWED_IMAGES", "registry.example.com/team/*"));
    }

    @AfterAll
    static void stop() {
        operator.close();
        namespace.close();
    }

    @AfterEach
    void empty() {
        namespace.admin.resources(SandboxPool.class).inNamespace(namespace.name).delete();
        await().atMost(SOON).until(() -> seats("warm").isEmpty());
    }

    private static void create(int replicas, @Nullable PoolTemplate template) {
        SandboxPool pool = new SandboxPool();
        pool.getMetadata().setName("warm");
        pool.getMetadata().setNamespace(namespace.name);
        pool.setSpec(new SandboxPoolSpec(replicas, template, null));
        namespace.admin.resource(pool).create();
    }

    private static void edit(int replicas, @Nullable PoolTemplate template) {
        namespace.again(() -> namespace
                .admin
                .resources(SandboxPool.class)
                .inNamespace(namespace.name)
                .withName("warm")
                .edit(pool -> {
                    pool.setSpec(new SandboxPoolSpec(replicas, template, null));
                    return pool;
                }));
    }

    private static SandboxPool awaitPool(Predicate<SandboxPool> condition) {
        return namespace
                .admin
                .resources(SandboxPool.class)
                .inNamespace(namespace.name)
                .withName("warm")
                .waitUntilCondition(
                        pool -> pool != null && condition.test(pool), SOON.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static boolean says(SandboxPool pool, String status, String reason) {
        return pool.observed()
                .condition(PoolCondition.PROGRESSING)
                .filter(told -> status.equals(told.getStatus()) && reason.equals(told.getReason()))
                .isPresent();
    }

    private static boolean isComplete(SandboxPool pool) {
        return says(pool, "True", "Complete")
                && pool.getMetadata().getGeneration().equals(pool.observed().observedGeneration());
    }

    private static List<Pod> seats(String pool) {
        return namespace.pods().stream()
                .filter(pod -> pool.equals(pod.getMetadata().getLabels().get(SandboxLabels.POOL)))
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .toList();
    }

    private static Set<String> names() {
        return seats("warm").stream().map(pod -> pod.getMetadata().getName()).collect(Collectors.toSet());
    }

    private static long version(HasMetadata object) {
        return Long.parseLong(object.getMetadata().getResourceVersion());
    }

    @Test
    void aPoolHasItsSeatsReadyBehindThePolicies() {
        create(2, null);

        SandboxPool complete = awaitPool(PoolIT::isComplete);

        assertThat(complete.observed().readyReplicas()).isEqualTo(2);
        assertThat(seats("warm")).hasSize(2).allSatisfy(seat -> {
            assertThat(seat.getStatus().getPodIP()).isNotBlank();
            HasMetadata secret = namespace
                    .admin
                    .secrets()
                    .inNamespace(namespace.name)
                    .withName(seat.getMetadata().getName())
                    .require();
            assertThat(secret.getMetadata().getOwnerReferences().getFirst().getUid())
                    .isEqualTo(seat.getMetadata().getUid());
            assertThat(version(namespace.policy(ChildNames.NAMESPACE_POLICY).orElseThrow()))
                    .isLessThan(version(secret));
        });
    }

    @Test
    void kubectlScalesAPoolUpAndDown() {
        create(1, null);
        awaitPool(PoolIT::isComplete);
        scale(2);
        awaitPool(pool -> isComplete(pool) && pool.observed().readyReplicas() == 2);
        scale(0);
        await().atMost(SOON).until(() -> seats("warm").isEmpty());
        awaitPool(pool -> isComplete(pool) && pool.observed().replicas() == 0);
    }

    private static void scale(int replicas) {
        namespace
                .admin
                .resources(SandboxPool.class)
                .inNamespace(namespace.name)
                .withName("warm")
                .scale(replicas);
    }

    @Test
    void anotherTemplateReplacesTheSeatsAndNeverAreThereMoreThanOneTooMany() {
        create(2, null);
        awaitPool(PoolIT::isComplete);
        Set<String> before = names();

        edit(2, new PoolTemplate(null, new Quantity("256Mi"), null, null, null));

        await().atMost(SOON).until(() -> {
            assertThat(seats("warm")).hasSizeLessThanOrEqualTo(3);
            return names().size() == 2 && names().stream().noneMatch(before::contains);
        });
        assertThat(awaitPool(PoolIT::isComplete).observed().updatedReplicas()).isEqualTo(2);
    }

    @Test
    void anImageThatIsNotAllowedIsRefusedInTheWordsOfASandbox() {
        create(1, new PoolTemplate("registry.example.com/other/kernel:1", null, null, null, null));

        SandboxPool refused = awaitPool(pool -> says(pool, "False", "ImageForbidden"));

        assertThat(refused.observed()
                        .condition(PoolCondition.PROGRESSING)
                        .orElseThrow()
                        .getMessage())
                .contains("spec.template.image: registry.example.com/other/kernel:1 is not on");
        assertThat(seats("warm")).isEmpty();
    }

    @Test
    void aFullQuotaIsReportedAndAPoolFillsUpWhenThereIsRoom() {
        ResourceQuota quota = new ResourceQuotaBuilder()
                .withNewMetadata()
                .withName("pods")
                .withNamespace(namespace.name)
                .endMetadata()
                .withNewSpec()
                .addToHard("pods", new Quantity("1"))
                .endSpec()
                .build();
        namespace.admin.resource(quota).create();
        try {
            // Before it is counted for the first time it refuses in other words.
            namespace
                    .admin
                    .resource(quota)
                    .waitUntilCondition(
                            now -> now != null
                                    && now.getStatus() != null
                                    && !now.getStatus().getHard().isEmpty(),
                            SOON.toMillis(),
                            TimeUnit.MILLISECONDS);
            create(2, null);
            awaitPool(pool ->
                    says(pool, "False", "QuotaExceeded") && pool.observed().readyReplicas() == 1);
        } finally {
            namespace.admin.resource(quota).delete();
        }
        awaitPool(PoolIT::isComplete);
    }

    @Test
    void aDeletedPoolTakesItsSeatsAlongAndASandboxBesideItStays() {
        namespace.create("beside", new SandboxSpec(null, new Quantity("300Mi"), null, null, null, false));
        create(1, null);
        awaitPool(PoolIT::isComplete);

        namespace
                .admin
                .resources(SandboxPool.class)
                .inNamespace(namespace.name)
                .withName("warm")
                .delete();

        await().atMost(SOON).until(() -> seats("warm").isEmpty());
        assertThat(namespace
                        .await("beside", SOON, sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .seat())
                .isNull();
    }

    @Test
    void aSeatThatSomebodyDeletedIsReplaced() {
        create(1, null);
        awaitPool(PoolIT::isComplete);
        String seat = names().iterator().next();
        namespace.admin.pods().inNamespace(namespace.name).withName(seat).delete();

        await().atMost(SOON).until(() -> names().size() == 1 && !names().contains(seat));
        awaitPool(PoolIT::isComplete);
    }
}
