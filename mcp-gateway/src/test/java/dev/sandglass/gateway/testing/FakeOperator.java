package dev.sandglass.gateway.testing;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Writes the status of one sandbox as the operator would; a mock of an API server has nobody else for that. */
public final class FakeOperator {

    private static final String CRD = "META-INF/fabric8/sandboxes.sandglass.dev-v1.yml";

    private final KubernetesClient client;
    private final SandboxRef ref;
    private final AtomicReference<@Nullable LongFunction<SandboxStatus>> answer = new AtomicReference<>();
    private final AtomicInteger incarnation = new AtomicInteger();

    public FakeOperator(KubernetesClient client, SandboxRef ref) {
        this.client = client;
        this.ref = ref;
    }

    /** Only with the definition there does the mock keep status apart from spec. */
    public static void loadCrd(KubernetesClient client) {
        client.load(FakeOperator.class.getClassLoader().getResourceAsStream(CRD))
                .create();
    }

    public Sandbox resource() {
        return at().require();
    }

    /** Somebody wants to be asked before the resource goes. */
    public void holdBy(String finalizer) {
        again(() -> at().edit(resource -> {
            resource.getMetadata().setFinalizers(List.of(finalizer));
            return resource;
        }));
    }

    /** From now on, a sandbox that is wanted gets a pod. */
    public void answersWithReady() {
        onWanted(generation -> ready(generation));
    }

    /** From now on, a sandbox that is wanted claims that seat. */
    public void answersWithSeat(String seat) {
        onWanted(generation -> inSeat(ready(generation), seat));
    }

    private static SandboxStatus inSeat(SandboxStatus cold, String seat) {
        return new SandboxStatus(
                cold.observedGeneration(),
                cold.conditions(),
                cold.address(),
                cold.podName(),
                cold.incarnation(),
                cold.startedAt(),
                cold.suspendedAt(),
                cold.expiresAt(),
                cold.restarts(),
                cold.restartReason(),
                cold.lost(),
                seat,
                "Warm: pool default");
    }

    /** From now on, a sandbox that is wanted is in trouble. */
    public void answersWith(String reason, String message) {
        onWanted(generation -> status(generation, null, List.of(condition("Ready", "False", reason, message))));
    }

    public void suspended(String reason) {
        write(asleep(generation(), reason));
    }

    /** From now on, an edit finds the pod too old or too idle. */
    public void suspendsWhoeverIsEdited(String reason) {
        onWanted(generation -> asleep(generation, reason));
    }

    public void evicted(String message) {
        ended("Evicted", message);
    }

    public void ended(String reason, String message) {
        write(status(generation(), null, List.of(condition("Ready", "False", reason, message))));
    }

    public void replaced() {
        write(ready(generation()));
    }

    /** Suspended then, by a clock of the operator's own. */
    public void suspended(String reason, Instant at) {
        SandboxStatus now = asleep(generation(), reason);
        write(new SandboxStatus(
                now.observedGeneration(),
                now.conditions(),
                null,
                null,
                now.incarnation(),
                null,
                at.toString(),
                null,
                null,
                null,
                null));
    }

    /** From now on, a lease wakes the sandbox if it was renewed after that. */
    public void wakesOnUseAfter(Instant sleep) {
        client.leases().inNamespace(ref.namespace()).watch(new OnEvent<Lease>(lease -> {
            if (lease.getSpec().getRenewTime().toInstant().isAfter(sleep)) {
                write(ready(generation()));
            }
        }));
    }

    /** From now on, a renewed lease wakes the sandbox. */
    public void wakesOnLease() {
        client.leases().inNamespace(ref.namespace()).watch(new OnEvent<Lease>(lease -> write(ready(generation()))));
    }

    private void onWanted(LongFunction<SandboxStatus> status) {
        if (answer.getAndSet(status) != null) {
            return;
        }
        client.resources(Sandbox.class)
                .inNamespace(ref.namespace())
                .withName(ref.name())
                .watch(new OnEvent<Sandbox>(sandbox -> {
                    Long seen = sandbox.observed().observedGeneration();
                    long generation = sandbox.getMetadata().getGeneration();
                    if (!sandbox.wanted().suspended() && (seen == null || seen < generation)) {
                        write(Objects.requireNonNull(answer.get()).apply(generation));
                    }
                }));
    }

    private SandboxStatus ready(long generation) {
        return status(generation, "10.0.0.7", List.of(condition("Ready", "True", "Running", "")));
    }

    private SandboxStatus asleep(long generation, String reason) {
        return status(
                generation,
                null,
                List.of(condition("Ready", "False", reason, ""), condition("Suspended", "True", reason, "")));
    }

    private SandboxStatus status(long generation, @Nullable String address, List<Condition> conditions) {
        int number = address == null ? incarnation.get() : incarnation.incrementAndGet();
        return new SandboxStatus(generation, conditions, address, "pod", number, null, null, null, null, null, null);
    }

    private void write(SandboxStatus status) {
        UnaryOperator<Sandbox> change = sandbox -> {
            sandbox.setStatus(status);
            return sandbox;
        };
        again(() -> at().editStatus(change));
    }

    /** Repeats an edit that fails with 409 because a gateway wrote in between. */
    private static void again(Callable<?> edit) {
        Awaitility.await()
                .ignoreExceptionsMatching(
                        e -> e instanceof KubernetesClientException refused && refused.getCode() == 409)
                .until(edit, edited -> true);
    }

    private long generation() {
        return resource().getMetadata().getGeneration();
    }

    private Resource<Sandbox> at() {
        return client.resources(Sandbox.class).inNamespace(ref.namespace()).withName(ref.name());
    }

    private static Condition condition(String type, String status, String reason, String message) {
        return new ConditionBuilder()
                .withType(type)
                .withStatus(status)
                .withReason(reason)
                .withMessage(message)
                .withLastTransitionTime("2026-11-21T12:00:00Z")
                .build();
    }

    /** Does something when a resource was added or changed. */
    private record OnEvent<T>(Consumer<T> action) implements Watcher<T> {
        @Override
        public void eventReceived(Action event, T resource) {
            if (event == Action.ADDED || event == Action.MODIFIED) {
                action.accept(resource);
            }
        }

        @Override
        public void onClose(WatcherException cause) {
            // The test is over.
        }
    }
}
