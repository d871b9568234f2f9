package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.watch.AsciiWatches;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.cluster.FaultyApi;
import dev.sandglass.operator.metrics.ApiMeter;
import dev.sandglass.operator.watch.LeanSerialization;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A throw-away namespace of the cluster of {@link TestCluster}, prepared like a tenant's. Operators in it run in this
 * process, with the rights of the role in {@code rbac/operator-role.yaml} and no others.
 */
public final class TestNamespace implements AutoCloseable {

    public static final LinkSecret LINK_SECRET =
            new LinkSecret("a link secret for integration tests only".getBytes(StandardCharsets.US_ASCII));

    public static final EgressSecret EGRESS_SECRET =
            new EgressSecret("an egress secret for integration tests only".getBytes(StandardCharsets.US_ASCII));

    /** An image that every node of the project's own cluster has; its python3 waits for a signal, whatever it is told. */
    private static final String IMAGE = System.getProperty("sandglass.it.image", "localhost/pause:cluster");

    private static final String ACCOUNT = "sandglass-sandbox";
    private static final Duration SOON = Duration.ofSeconds(60);

    static {
        // The framework's timers of an operator that closes may still go off, and then its executor takes nothing any
        // more:
        // Awaitility would call that the failure of whoever waits at that moment.
        Awaitility.doNotCatchUncaughtExceptionsByDefault();
    }

    public final KubernetesClient admin =
            new KubernetesClientBuilder().withConfig(TestCluster.config()).build();
    public final String name = "sandglass-it-" + UUID.randomUUID().toString().substring(0, 8);

    public TestNamespace() {
        define("sandboxes", Sandbox.class);
        define("sandboxtoolservers", SandboxToolServer.class);
        define("sandboxpools", SandboxPool.class);
        admin.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("pod-security.kubernetes.io/enforce", "restricted")
                        .endMetadata()
                        .build())
                .create();
        for (String account : List.of(ACCOUNT, "sandglass-operator")) {
            admin.resource(new ServiceAccountBuilder()
                            .withNewMetadata()
                            .withName(account)
                            .withNamespace(name)
                            .endMetadata()
                            .build())
                    .create();
        }
        for (String role : List.of("operator-role", "operator-leader-role")) {
            grant(load("/rbac/" + role + ".yaml", Role.class));
        }
    }

    private void define(String plural, Class<? extends HasMetadata> kind) {
        String name = plural + "." + Sandbox.GROUP;
        // The chart may have installed it already, or a class that runs beside this one; then it is left alone.
        CustomResourceDefinition definition =
                load("/META-INF/fabric8/" + name + "-v1.yml", CustomResourceDefinition.class);
        admin.resource(definition).createOr(present -> definition);
        admin.resources(CustomResourceDefinition.class)
                .withName(name)
                .waitUntilCondition(TestNamespace::established, 60, TimeUnit.SECONDS);
        // Established is a promise; the API server serves the kind a moment later.
        Awaitility.await()
                .atMost(SOON)
                .ignoreExceptions()
                .until(() -> admin.resources(kind).inNamespace("default").list() != null);
    }

    /** Gives the operator what it needs besides if the site has certificate authorities of its own. */
    public void grantAuthorities() {
        grant(load("/rbac/operator-authorities-role.yaml", Role.class));
    }

    private void grant(Role role) {
        role.getMetadata().setNamespace(name);
        admin.resource(role).create();
        admin.resource(new RoleBindingBuilder()
                        .withNewMetadata()
                        .withName(role.getMetadata().getName())
                        .withNamespace(name)
                        .endMetadata()
                        .withNewRoleRef(
                                "rbac.authorization.k8s.io",
                                "Role",
                                role.getMetadata().getName())
                        .addNewSubject()
                        .withKind("ServiceAccount")
                        .withName("sandglass-operator")
                        .withNamespace(name)
                        .endSubject()
                        .build())
                .create();
        awaitGranted(name, role.getRules().getLast());
    }

    /**
     * Returns when the operator's account has the right: the API server hears of roles a moment after they were written.
     *
     * @param where the namespace; null for all of them
     */
    void awaitGranted(@Nullable String where, PolicyRule rule) {
        String[] kind = rule.getResources().getLast().split("/", 2);
        SubjectAccessReview asked = new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser("system:serviceaccount:" + name + ":sandglass-operator")
                .withNewResourceAttributes()
                .withNamespace(where)
                .withGroup(rule.getApiGroups().getLast())
                .withResource(kind[0])
                .withSubresource(kind.length > 1 ? kind[1] : null)
                .withName(
                        rule.getResourceNames().isEmpty()
                                ? null
                                : rule.getResourceNames().getLast())
                .withVerb(rule.getVerbs().getLast())
                .endResourceAttributes()
                .endSpec()
                .build();
        Awaitility.await("the right").atMost(SOON).until(() -> admin.authorization()
                .v1()
                .subjectAccessReview()
                .create(asked)
                .getStatus()
                .getAllowed());
    }

    /** Deletes the account of sandboxes' pods; returns when the API server, which hears of it a moment later, misses it. */
    void loseAccount() {
        admin.serviceAccounts().inNamespace(name).withName(ACCOUNT).delete();
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withName("without-account")
                .withNamespace(name)
                .endMetadata()
                .withNewSpec()
                .withServiceAccountName(ACCOUNT)
                .addNewContainer()
                .withName("none")
                .withImage("none")
                .endContainer()
                .endSpec()
                .build();
        Awaitility.await("the account's end").atMost(SOON).untilAsserted(() -> assertThatThrownBy(
                        () -> admin.resource(pod).dryRun(true).create())
                .hasMessageContaining("serviceaccount \"" + ACCOUNT + "\" not found"));
    }

    private static boolean established(CustomResourceDefinition definition) {
        return definition.getStatus() != null
                && definition.getStatus().getConditions().stream()
                        .anyMatch(condition ->
                                "Established".equals(condition.getType()) && "True".equals(condition.getStatus()));
    }

    private <T> T load(String resource, Class<T> type) {
        InputStream stream = Objects.requireNonNull(TestNamespace.class.getResourceAsStream(resource), resource);
        return admin.getKubernetesSerialization().unmarshal(stream, type);
    }

    /**
     * An operator in this process, and what it asked of the API server.
     *
     * @param ends why its process should end, as often as it said so
     */
    public record Running(
            RunningOperator operator, KubernetesClient client, PrometheusMeterRegistry metrics, List<String> ends)
            implements AutoCloseable {

        private double answered(String... tags) {
            return metrics.find(ApiMeter.NAME).tags(tags).counters().stream()
                    .mapToDouble(Counter::count)
                    .sum();
        }

        /** Requests that were answered, by method and resource. */
        public double requests(String method, String resource) {
            return answered("method", method, "resource", resource);
        }

        public double writes() {
            return answered() - answered("method", "GET");
        }

        /** How many of the writes were Events. */
        public double events() {
            return requests("POST", "events") + requests("PATCH", "events");
        }

        /** How many of the writes found the keys there, as a process leaves them that dies before the pod is made. */
        public double keysThatWereThere() {
            return answered("method", "POST", "resource", "secrets", "code", "409");
        }

        /**
         * How many of the writes asked to delete what was gone already, as a round does that begins before the watch has told
         * of the deletion.
         */
        public double deletionsOfNothing() {
            return answered("method", "DELETE", "code", "404");
        }

        /** How many of the writes asked once more to delete a pod that was ending already, where one is to be deleted. */
        public double deletionsOfWhatEnds() {
            return Math.max(0, answered("method", "DELETE", "resource", "pods", "code", "200") - 1);
        }

        @Override
        public void close() {
            operator.close();
            client.close();
        }
    }

    public Running operator(Map<String, String> overrides, Interceptor... interceptors) {
        return operator(TestCluster.config(), overrides, interceptors);
    }

    /** An operator that reaches the API server by way of what stands between. */
    public Running operatorThrough(FaultyApi between) {
        Config config = Config.empty();
        config.setMasterUrl(between.url() + "/");
        config.setHttp2Disable(true);
        config.setOnlyHttpWatches(true);
        return operator(config, Map.of());
    }

    private Running operator(Config reached, Map<String, String> overrides, Interceptor... interceptors) {
        Map<String, String> variables = new HashMap<>(Map.of(
                "OPERATOR_NAMESPACES", name,
                "OPERATOR_DEFAULT_IMAGE", IMAGE,
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_CPU_REQUEST_RATIO", "0.01",
                "OPERATOR_MEMORY_REQUEST_RATIO", "0.01",
                "OPERATOR_ALLOWED_RUNTIME_CLASSES", "*",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system"));
        variables.putAll(overrides);
        Config config = new ConfigBuilder(reached)
                .withImpersonateUsername("system:serviceaccount:" + name + ":sandglass-operator")
                .build();
        PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        KubernetesClient client = client(config, metrics, interceptors);
        List<String> ends = new CopyOnWriteArrayList<>();
        RunningOperator operator = new RunningOperator(
                OperatorSettings.of(variables),
                new Secrets(LINK_SECRET, Optional.of(EGRESS_SECRET)),
                client,
                metrics,
                ends::add);
        var running = new Running(operator, client, metrics, ends);
        try {
            operator.start();
        } catch (RuntimeException cannotBegin) {
            running.close();
            throw cannotBegin;
        }
        return running;
    }

    private static KubernetesClient client(Config config, PrometheusMeterRegistry metrics, Interceptor... more) {
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(LeanSerialization.create())
                .withConfig(config)
                .withHttpClientBuilderConsumer(builder -> {
                    builder.addOrReplaceInterceptor("meter", new ApiMeter(metrics));
                    builder.addOrReplaceInterceptor(AsciiWatches.NAME, new AsciiWatches());
                    for (Interceptor interceptor : more) {
                        builder.addOrReplaceInterceptor(interceptor.getClass().getName(), interceptor);
                    }
                })
                .build();
    }

    public Sandbox create(String sandboxName, SandboxSpec spec) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(sandboxName);
        sandbox.getMetadata().setNamespace(name);
        sandbox.setSpec(spec);
        return admin.resource(sandbox).create();
    }

    /** Edits a sandbox's spec. */
    public Sandbox edit(String sandboxName, SandboxSpec spec) {
        return again(() -> admin.resources(Sandbox.class)
                .inNamespace(name)
                .withName(sandboxName)
                .edit(sandbox -> {
                    sandbox.setSpec(spec);
                    return sandbox;
                }));
    }

    /** Repeats an edit that fails with 409 because an operator or a node wrote in between. */
    public <T> T again(Callable<T> edit) {
        return Awaitility.await()
                .atMost(SOON)
                .ignoreExceptionsMatching(
                        e -> e instanceof KubernetesClientException refused && refused.getCode() == 409)
                .until(edit, edited -> true);
    }

    public Sandbox get(String sandboxName) {
        return admin.resources(Sandbox.class)
                .inNamespace(name)
                .withName(sandboxName)
                .require();
    }

    /** Waits by watch. */
    public Sandbox await(String sandboxName, Duration atMost, Predicate<Sandbox> condition) {
        return admin.resources(Sandbox.class)
                .inNamespace(name)
                .withName(sandboxName)
                .waitUntilCondition(
                        sandbox -> sandbox != null && condition.test(sandbox),
                        atMost.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    public List<Pod> pods() {
        return admin.pods().inNamespace(name).list().getItems();
    }

    public Optional<NetworkPolicy> policy(String policy) {
        return Optional.ofNullable(admin.network()
                .v1()
                .networkPolicies()
                .inNamespace(name)
                .withName(policy)
                .get());
    }

    public boolean secretExists(Sandbox sandbox, int incarnation) {
        return admin.secrets()
                        .inNamespace(name)
                        .withName(SandboxPod.subject(sandbox, incarnation).name())
                        .get()
                != null;
    }

    @Override
    public void close() {
        admin.namespaces().withName(name).delete();
        admin.close();
    }
}
