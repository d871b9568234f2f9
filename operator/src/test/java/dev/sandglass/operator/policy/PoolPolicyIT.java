package dev.sandglass.operator.policy;

import static dev.sandglass.operator.policy.ChartPolicies.granted;
import static dev.sandglass.operator.policy.ChartPolicies.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.api.pool.SandboxPoolStatus;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.policy.ChartPolicies.Rendering;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.autoscaling.v1.Scale;
import io.fabric8.kubernetes.api.model.autoscaling.v1.ScaleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Which SandboxPools there may be, and who writes which status, by the chart's admission policies as rendered before a real
 * API server. Attackers have an administrator's rights: each attack succeeds without the policies.
 */
class PoolPolicyIT {

    private static final String SEAT = "0b7e8f1a-1111-4222-8333-444455556666";
    private static final String STATUS = "only the Sandglass operator may write the status";
    private static final String FORM = "status.seat: must be the id of a seat";
    private static final String POD = "status.seat: must be that of the pod in status.podName";
    private static final String OPERATOR = "may write only the status of a SandboxPool";

    private TestNamespace namespace;
    private ChartPolicies policies;
    private KubernetesClient operator;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        policies = new ChartPolicies(namespace, Rendering.EVERYTHING, "pools", "status", "operator");
        operator = policies.operator();
        namespace.admin.resource(pool("there", 1, PoolTemplate.DEFAULT)).create();
        namespace.create("box", SandboxSpec.DEFAULT.withSuspended(true));
    }

    @AfterEach
    void cleanUp() {
        policies.close();
        operator.close();
        namespace.close();
    }

    private void install() {
        policies.install();
        await("the policies").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            refused(() -> tried(51, PoolTemplate.DEFAULT), "spec.replicas");
            refused(() -> reported(namespace.admin, SEAT, null), STATUS);
            refused(() -> scaled(operator, 2), OPERATOR);
        });
    }

    private SandboxPool pool(String name, int replicas, PoolTemplate template) {
        var pool = new SandboxPool();
        pool.getMetadata().setName(name);
        pool.getMetadata().setNamespace(namespace.name);
        pool.setSpec(new SandboxPoolSpec(replicas, template, null));
        return pool;
    }

    private SandboxPool tried(int replicas, PoolTemplate template) {
        return namespace
                .admin
                .resource(pool("mine", replicas, template))
                .dryRun(true)
                .create();
    }

    private static Resource<SandboxPool> there(KubernetesClient client, String namespace) {
        return client.resources(SandboxPool.class).inNamespace(namespace).withName("there");
    }

    private SandboxPool edited(KubernetesClient client, UnaryOperator<SandboxPoolSpec> change) {
        SandboxPool found = there(client, namespace.name).require();
        found.setSpec(change.apply(found.wanted()));
        return client.resource(found).dryRun(true).update();
    }

    /** By the subresource, as an autoscaler does it; it knows no dry run. */
    private Scale scaled(KubernetesClient client, int replicas) {
        return there(client, namespace.name)
                .scale(new ScaleBuilder()
                        .withNewMetadata()
                        .withName("there")
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withNewSpec()
                        .withReplicas(replicas)
                        .endSpec()
                        .build());
    }

    private static PoolTemplate image(String image) {
        return new PoolTemplate(image, null, null, null, null);
    }

    private static PoolTemplate size(@Nullable String memory, @Nullable String cpus, @Nullable String disk) {
        return new PoolTemplate(null, quantity(memory), quantity(cpus), quantity(disk), null);
    }

    private static @Nullable Quantity quantity(@Nullable String amount) {
        return amount == null ? null : new Quantity(amount);
    }

    private static PoolTemplate runtimeClass(String name) {
        return new PoolTemplate(null, null, null, null, name);
    }

    private Sandbox reported(KubernetesClient client, String seat, @Nullable String pod) {
        return client.resources(Sandbox.class)
                .inNamespace(namespace.name)
                .withName("box")
                .dryRun(true)
                .editStatus(found -> {
                    found.setStatus(new SandboxStatus(
                            null, null, null, pod, null, null, null, null, null, null, null, seat, null));
                    return found;
                });
    }

    private SandboxPool counted(KubernetesClient client) {
        return there(client, namespace.name).dryRun(true).editStatus(found -> {
            found.setStatus(new SandboxPoolStatus(1L, 1, 1, 1, null, null));
            return found;
        });
    }

    /** What is expected of an attack, and the words with which it is refused. */
    private interface Judge {
        void of(Callable<?> attack, String words);
    }

    private void attacks(Judge judge) {
        judge.of(
                () -> tried(1, image("docker.example.com/mine:1")),
                "spec.template.image: docker.example.com/mine:1 is not");
        judge.of(() -> tried(1, size("9Gi", null, null)), "spec.template.memory: 9Gi is more than");
        judge.of(() -> tried(1, size(null, "4001m", null)), "spec.template.cpus: 4001m is more than");
        judge.of(() -> tried(1, size(null, null, "21Gi")), "spec.template.disk: 21Gi is more than");
        judge.of(() -> tried(1, runtimeClass("runc")), "spec.template.runtimeClassName: runc is not allowed");
        judge.of(() -> tried(51, PoolTemplate.DEFAULT), "spec.replicas: 51 is more than the 50 seats");
        judge.of(
                () -> edited(namespace.admin, spec -> new SandboxPoolSpec(51, null, null)),
                "spec.replicas: 51 is more than the 50 seats");
        judge.of(
                () -> edited(namespace.admin, spec -> new SandboxPoolSpec(1, image("docker.example.com/mine:1"), null)),
                "spec.template.image: docker.example.com/mine:1 is not");
        judge.of(() -> edited(operator, spec -> new SandboxPoolSpec(2, null, null)), OPERATOR);
        judge.of(() -> reported(namespace.admin, SEAT, null), STATUS);
        judge.of(() -> counted(namespace.admin), STATUS);
        judge.of(() -> reported(operator, "../" + SEAT, null), FORM);
        judge.of(() -> reported(operator, SEAT, "sbx-" + SEAT + "-1"), POD);
    }

    @Test
    void aPoolIsBoundAsSandboxesAreAndOnlyTheOperatorWritesStatus() {
        attacks((attack, words) -> granted(attack));

        install();

        attacks(ChartPolicies::refused);
        // Each limit itself is permitted.
        granted(() -> tried(50, size("8Gi", "4", "20Gi")));
        granted(() -> tried(0, image("registry.example.com/team/kernel:3")));
        granted(() -> tried(1, runtimeClass("gvisor")));
        granted(() -> edited(namespace.admin, spec -> new SandboxPoolSpec(50, null, null)));
        granted(() -> reported(operator, SEAT, "sbx-" + SEAT + "-0"));
        granted(() -> counted(operator));
    }

    @Test
    void aScaleIsBoundAsThePoolIs() {
        granted(() -> scaled(namespace.admin, 51));
        granted(() -> scaled(operator, 1));

        install();

        refused(() -> scaled(namespace.admin, 51), "spec.replicas: 51 is more than the 50 seats");
        refused(() -> scaled(operator, 2), OPERATOR);
        granted(() -> scaled(namespace.admin, 50));
        assertThat(there(namespace.admin, namespace.name).require().wanted().replicas())
                .isEqualTo(50);
        granted(() -> scaled(namespace.admin, 0));
    }

    /** An administrator lowers a limit: what is there stays as it is, and may be edited otherwise. */
    @Test
    void aPoolFromBeforeALimitKeepsWhatItHas() {
        SandboxPool large = pool("large", 60, size("9Gi", null, null));
        namespace.admin.resource(large).create();

        install();

        SandboxPool found = namespace.admin.resource(large).require();
        found.getMetadata().getLabels().put("team", "data");
        granted(() -> namespace.admin.resource(found).dryRun(true).update());
        found.setSpec(new SandboxPoolSpec(55, size("9Gi", null, null), null));
        granted(() -> namespace.admin.resource(found).dryRun(true).update());
        found.setSpec(new SandboxPoolSpec(61, size("9Gi", null, null), null));
        refused(() -> namespace.admin.resource(found).dryRun(true).update(), "spec.replicas: 61");
        found.setSpec(new SandboxPoolSpec(60, size("10Gi", null, null), null));
        refused(() -> namespace.admin.resource(found).dryRun(true).update(), "spec.template.memory: 10Gi");
    }
}
