package dev.sandglass.e2e.pool;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.e2e.support.GrantedKey;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A pool in the default tenant's namespace for one test class. Its seats have a size that nobody else asks for, so that tests
 * beside it start as they always do.
 *
 * @param memory of a seat, in MiB
 */
record Pool(Tenant tenant, String name, int memory) implements AutoCloseable {

    private static final String CPUS = "250m";
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /** Makes the pool and waits for its seats. */
    static Pool of(Tenant tenant, int replicas, int memory, String... languages) {
        var pool = new Pool(tenant, "e2e-" + GrantedKey.random(3), memory);
        var resource = new SandboxPool();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName(pool.name)
                .withNamespace(Tenant.NAMESPACE)
                .build());
        resource.setSpec(new SandboxPoolSpec(replicas, template(memory), List.of(languages)));
        tenant.kubernetes().resource(resource).create();
        pool.awaitSeats(replicas);
        return pool;
    }

    private static PoolTemplate template(int memory) {
        return new PoolTemplate(null, new Quantity(memory + "Mi"), new Quantity(CPUS), null, null);
    }

    /** What {@code sandbox_start} is told for a sandbox that a seat fits, and more. */
    Map<String, Object> config(Map<String, Object> more) {
        var config = new HashMap<String, Object>(more);
        config.put("memory", memory);
        config.put("cpus", CPUS);
        return Map.copyOf(config);
    }

    /** The same, of a sandbox that has all that a seat has but for a MiB, and so starts cold. */
    Map<String, Object> coldConfig(Map<String, Object> more) {
        var config = new HashMap<String, Object>(config(more));
        config.put("memory", memory + 1);
        return Map.copyOf(config);
    }

    Resource<SandboxPool> resource() {
        return tenant.kubernetes()
                .resources(SandboxPool.class)
                .inNamespace(Tenant.NAMESPACE)
                .withName(name);
    }

    void resize(int replicas) {
        patch("{\"replicas\":%d}".formatted(replicas));
    }

    /** Has all seats replaced by others that fit the same sandboxes. */
    void changeLanguages() {
        boolean none = resource().require().getSpec().languages().isEmpty();
        patch("{\"languages\":%s}".formatted(none ? "[\"python\"]" : "[]"));
    }

    /** Without a resource version: the operator writes the status at any time. */
    private void patch(String spec) {
        resource().patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":" + spec + "}");
    }

    /** Waits until so many seats are ready. The pool's status follows claims some seconds later and is not asked. */
    void awaitSeats(int replicas) {
        await("%d seats".formatted(replicas)).atMost(PATIENCE).until(() -> {
            List<Pod> there = seats();
            return there.size() == replicas && there.stream().allMatch(Pool::isReady);
        });
    }

    private static boolean isReady(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .anyMatch(condition -> "Ready".equals(condition.getType()) && "True".equals(condition.getStatus()));
    }

    /** The pods that no sandbox has claimed and that are not on their way out. */
    List<Pod> seats() {
        return tenant
                .kubernetes()
                .pods()
                .inNamespace(Tenant.NAMESPACE)
                .withLabel(SandboxLabels.POOL, name)
                .withoutLabel(SandboxLabels.SANDBOX_UID)
                .list()
                .getItems()
                .stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .toList();
    }

    /** What the status of a sandbox says of its start; empty if nothing. */
    String startOf(String sandbox) {
        return String.valueOf(tenant.sandbox(sandbox).observed().start());
    }

    boolean gaveItsSeatTo(String sandbox) {
        return startOf(sandbox).equals("Warm: pool " + name);
    }

    @Override
    public void close() {
        resource().delete();
        await("the seats to go").atMost(PATIENCE).until(() -> seats().isEmpty());
    }
}
