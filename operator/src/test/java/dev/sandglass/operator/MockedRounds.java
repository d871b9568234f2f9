package dev.sandglass.operator;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.SandboxContainer;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.APIResourceListBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A whole operator against a stand-in for the API server, with its namespace {@code tenant-a}. */
public record MockedRounds(KubernetesClient client, RunningOperator operator, SimpleMeterRegistry metrics)
        implements AutoCloseable {

    public static final Duration SOON = Duration.ofSeconds(20);

    /** Edits as somebody else would; the operator writes too, and who comes second is asked to try again. */
    public static <T> void edit(Resource<T> resource, UnaryOperator<T> change) {
        write(() -> resource.edit(change));
    }

    /** The same of a status. */
    public static <T> void editStatus(Resource<T> resource, UnaryOperator<T> change) {
        write(() -> resource.editStatus(change));
    }

    /** The same of the whole. */
    public static <T> void replace(Resource<T> resource) {
        write(resource::update);
    }

    private static void write(Runnable attempt) {
        await().atMost(SOON)
                .ignoreExceptionsMatching(
                        failure -> failure instanceof KubernetesClientException refused && refused.getCode() == 409)
                .until(() -> {
                    attempt.run();
                    return true;
                });
    }

    public static MockedRounds start(MockApi api) {
        return start(api, Map.of());
    }

    /** With other settings. */
    public static MockedRounds start(MockApi api, Map<String, String> overrides) {
        api.server()
                .expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(SandboxToolServer.class));
        api.server().expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(SandboxPool.class));
        api.server()
                .expect()
                .get()
                .withPath("/apis/sandglass.dev/v1alpha1")
                .andReturn(
                        200,
                        new APIResourceListBuilder()
                                .withGroupVersion("sandglass.dev/v1alpha1")
                                .addNewResource()
                                .withName("sandboxtoolservers")
                                .withKind("SandboxToolServer")
                                .endResource()
                                .addNewResource()
                                .withName("sandboxpools")
                                .withKind("SandboxPool")
                                .endResource()
                                .build())
                .always();
        api.server().expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(Sandbox.class));
        return restart(api.client(), overrides);
    }

    /** Has the stand-in serve pools, and no tool servers. */
    public static void servePools(MockApi api) {
        api.server().expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(SandboxPool.class));
        api.server()
                .expect()
                .get()
                .withPath("/apis/sandglass.dev/v1alpha1")
                .andReturn(
                        200,
                        new APIResourceListBuilder()
                                .withGroupVersion("sandglass.dev/v1alpha1")
                                .addNewResource()
                                .withName("sandboxpools")
                                .withKind("SandboxPool")
                                .endResource()
                                .build())
                .always();
        api.server().expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(Sandbox.class));
    }

    /** One that does not say that it has their kind. */
    public static MockedRounds startWithoutToolServers(MockApi api) {
        api.server().expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(Sandbox.class));
        return restart(api.client(), Map.of());
    }

    /** The same, with what the stand-in has already. */
    public static MockedRounds restart(KubernetesClient client, Map<String, String> overrides) {
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        RunningOperator operator = new RunningOperator(
                OperatorSettings.of(variables(overrides)),
                new Secrets(TestNamespace.LINK_SECRET, Optional.empty()),
                client,
                metrics,
                why -> {});
        operator.start();
        return new MockedRounds(client, operator, metrics);
    }

    /** What an operator with nothing but the defaults says about every pod. */
    public static PodSettings settings() {
        return OperatorSettings.of(variables(Map.of())).pods();
    }

    /** Whether the operator does its part. */
    public boolean isReady() {
        return operator.isReady();
    }

    /** Its settings. */
    public static Map<String, String> variables(Map<String, String> overrides) {
        Map<String, String> variables = new HashMap<>(Map.of(
                "OPERATOR_NAMESPACES", "tenant-a",
                "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system"));
        variables.putAll(overrides);
        return variables;
    }

    /** A sandbox with a policy of its own, whose pod runs. */
    public Sandbox running() {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);
        sandbox.setSpec(SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort("web", 8080))));
        client.resource(sandbox).create();
        run();
        return told(sandbox, ConditionType.READY, "True");
    }

    /** Has the only pod run. */
    public void run() {
        Pod pod = await().atMost(SOON)
                .until(() -> client.pods().inNamespace("tenant-a").list().getItems(), found -> !found.isEmpty())
                .getFirst();
        editStatus(client.resource(pod), found -> new PodBuilder(found)
                .withNewStatus()
                .withPhase("Running")
                .withPodIP("10.1.2.3")
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());
    }

    /** The sandbox as soon as it says so. */
    public Sandbox told(Sandbox sandbox, ConditionType type, String status) {
        return await().atMost(SOON).until(() -> client.resource(sandbox).get(), found -> found.observed()
                .condition(type)
                .filter(told -> status.equals(told.getStatus()))
                .isPresent());
    }

    @Override
    public void close() {
        operator.close();
    }
}
