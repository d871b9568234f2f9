package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.cluster.MortalApi;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpecBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas, and the end of a process. */
class LeadershipIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    /** A Lease holds for 15 s. */
    private static final Duration AT_ONCE = Duration.ofSeconds(12);

    private static final Duration TAKEN_OVER = Duration.ofSeconds(90);

    /** The one that the role of the tests names. */
    private static final String LEASE = "sandglass-operator";

    private static final String LEADS_NO_LONGER = "This replica leads no longer";

    @Test
    void theOtherReplicaTakesOverAtOnceWhenTheLeaderEnds() {
        try (TestNamespace namespace = new TestNamespace()) {
            Map<String, String> elected = elected(namespace);
            TestNamespace.Running first = namespace.operator(elected);
            namespace.create("before", SandboxSpec.DEFAULT);
            namespace.await("before", SOON, sandbox -> sandbox.observed().holds(ConditionType.READY));
            try (TestNamespace.Running second = namespace.operator(elected)) {
                await().atMost(SOON).until(second.operator()::isReady);
                assertThat(second.writes()).isZero();
                assertThat(second.requests("GET", "sandboxes"))
                        .as("it holds nothing as long as it does not lead")
                        .isZero();
                first.close();
                await("not only when the Lease is over")
                        .atMost(AT_ONCE)
                        .until(() -> second.requests("GET", "sandboxes") > 0);
                namespace.create("after", SandboxSpec.DEFAULT);

                namespace.await("after", SOON, sandbox -> sandbox.observed().holds(ConditionType.READY));

                assertThat(second.requests("POST", "pods")).isEqualTo(1);
            }
        }
    }

    /** It hangs, or is cut off: nobody gives the Lease up for it. */
    @Test
    void theOtherReplicaTakesOverWhenTheLeadersLeaseIsOver() {
        try (TestNamespace namespace = new TestNamespace()) {
            Map<String, String> elected = elected(namespace);
            MortalApi death = MortalApi.immortal();
            try (TestNamespace.Running first = namespace.operator(elected, death)) {
                await().atMost(SOON).until(first.operator()::isReady);
                try (TestNamespace.Running second = namespace.operator(elected)) {
                    death.die();
                    namespace.create("after", SandboxSpec.DEFAULT);

                    namespace.await(
                            "after", TAKEN_OVER, sandbox -> sandbox.observed().holds(ConditionType.READY));

                    assertThat(second.requests("POST", "pods")).isEqualTo(1);
                    await("it must not work on beside the other").atMost(SOON).until(() -> first.ends()
                            .contains(LEADS_NO_LONGER));
                }
            }
        }
    }

    /** Else the others would wait for it for ever. */
    @Test
    void whoLeadsAndCannotBeginEndsItself() {
        try (TestNamespace namespace = new TestNamespace()) {
            Interceptor blind = new Interceptor() {
                @Override
                public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                    if (request.uri().getPath().endsWith("/pods")) {
                        throw new KubernetesClientException("no pods are listed");
                    }
                }
            };
            try (TestNamespace.Running unable = namespace.operator(elected(namespace), blind)) {
                await().atMost(SOON).until(() -> !unable.ends().isEmpty());

                assertThat(unable.ends().getFirst()).startsWith("It leads and cannot begin");
                assertThat(unable.operator().isReady()).isFalse();
            }
        }
    }

    @Test
    void whoMayNotAskForTheLeaseIsNotReady() {
        try (TestNamespace namespace = new TestNamespace()) {
            Map<String, String> elected = new HashMap<>(elected(namespace));
            elected.put("OPERATOR_LEASE", "of-somebody-else");
            try (TestNamespace.Running stranger = namespace.operator(elected)) {
                await().atMost(SOON).until(() -> stranger.requests("GET", "leases") > 1);

                assertThat(stranger.operator().isReady()).isFalse();
                assertThat(stranger.ends()).isEmpty();
            }
        }
    }

    @Test
    void whoseLeaseIsTakenEndsItself() {
        try (TestNamespace namespace = new TestNamespace();
                TestNamespace.Running robbed = namespace.operator(elected(namespace))) {
            await().atMost(SOON).until(() -> leads(namespace));

            write(namespace, spec -> spec.withHolderIdentity("somebody else")
                    .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC).plusMinutes(1)));

            await().atMost(SOON).until(() -> robbed.ends().contains(LEADS_NO_LONGER));
        }
    }

    /** As a renewal does that was under way when the process was told to end. */
    @Test
    void aLeaseThatIsWrittenMeanwhileIsGivenUpAllTheSame() {
        try (TestNamespace namespace = new TestNamespace()) {
            AtomicBoolean ends = new AtomicBoolean();
            AtomicInteger written = new AtomicInteger();
            Interceptor between = new Interceptor() {
                @Override
                public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                    if (ends.get()
                            && "PUT".equals(request.method())
                            && request.uri().getPath().endsWith("/leases/" + LEASE)
                            && written.getAndIncrement() < 2) {
                        write(namespace, spec -> spec.withRenewTime(ZonedDateTime.now(ZoneOffset.UTC)));
                    }
                }
            };
            try (TestNamespace.Running leader = namespace.operator(elected(namespace), between)) {
                await().atMost(SOON).until(leader.operator()::isReady);
                ends.set(true);
            }

            // Twice in vain, and then once more.
            assertThat(written).hasValueGreaterThanOrEqualTo(3);
            assertThat(leads(namespace)).isFalse();
        }
    }

    @Test
    void theLeaseGoesWithTheOperatorsAccount() {
        try (TestNamespace namespace = new TestNamespace()) {
            Map<String, String> elected = new HashMap<>(elected(namespace));
            elected.put("OPERATOR_OWN_ACCOUNT", "sandglass-operator");
            String account = namespace
                    .admin
                    .serviceAccounts()
                    .inNamespace(namespace.name)
                    .withName("sandglass-operator")
                    .require()
                    .getMetadata()
                    .getUid();
            try (TestNamespace.Running _ = namespace.operator(elected)) {
                await().atMost(SOON).ignoreExceptions().until(() -> owners(namespace)
                        .equals(List.of(account)));
                ZonedDateTime renewed = lease(namespace).getSpec().getRenewTime();

                await().atMost(SOON)
                        .until(() -> lease(namespace).getSpec().getRenewTime().isAfter(renewed));

                assertThat(owners(namespace)).as("after it was renewed").containsExactly(account);
            }
        }
    }

    private static void write(TestNamespace namespace, UnaryOperator<LeaseSpecBuilder> change) {
        namespace.again(() -> namespace
                .admin
                .leases()
                .inNamespace(namespace.name)
                .withName(LEASE)
                .edit(lease -> lease.edit()
                        .withSpec(change.apply(new LeaseSpecBuilder(lease.getSpec()))
                                .build())
                        .build()));
    }

    private static Lease lease(TestNamespace namespace) {
        return namespace
                .admin
                .leases()
                .inNamespace(namespace.name)
                .withName(LEASE)
                .require();
    }

    private static List<String> owners(TestNamespace namespace) {
        return lease(namespace).getMetadata().getOwnerReferences().stream()
                .map(OwnerReference::getUid)
                .toList();
    }

    private static Map<String, String> elected(TestNamespace namespace) {
        return Map.of("OPERATOR_LEADER_ELECTION", "true", "OPERATOR_NAMESPACE", namespace.name);
    }

    @Test
    void aProcessThatIsToldToEndDoesSoLongBeforeItWouldBeKilled(@TempDir Path folder) throws Exception {
        try (TestNamespace namespace = new TestNamespace()) {
            Path secret = Files.writeString(folder.resolve("secret"), "a link secret for integration tests only");
            Process process = process(namespace, secret);
            try {
                await().atMost(SOON).until(() -> leads(namespace));
                process.destroy();
                // A kubelet kills after 30 s.
                assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
                assertThat(leads(namespace)).isFalse();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static boolean leads(TestNamespace namespace) {
        return Stream.ofNullable(namespace
                        .admin
                        .leases()
                        .inNamespace(namespace.name)
                        .withName(LEASE)
                        .get())
                .anyMatch(lease -> !lease.getSpec().getHolderIdentity().isEmpty());
    }

    private static Process process(TestNamespace namespace, Path secret) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dkubernetes.certs.client.key.algo=" + TestCluster.config().getClientKeyAlgo(),
                "-cp",
                System.getProperty("java.class.path"),
                OperatorMain.class.getName()));
        builder.environment()
                .putAll(Map.of(
                        "OPERATOR_NAMESPACES", namespace.name,
                        "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
                        "OPERATOR_LINK_SECRET_FILE", secret.toString(),
                        "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system",
                        "OPERATOR_HTTP_PORT", "0",
                        "OPERATOR_LEADER_ELECTION", "true",
                        "OPERATOR_NAMESPACE", namespace.name));
        return builder.inheritIO().start();
    }
}
