package dev.sandglass.operator.cluster;

import static dev.sandglass.api.toolserver.ToolServerCondition.AVAILABLE;
import static dev.sandglass.api.toolserver.ToolServerCondition.READY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SecretKeyRef;
import dev.sandglass.api.toolserver.ServerVariable;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ValueSource;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Secrets of tool servers before a real API server and a real node, with the operator's own rights only. */
class ToolServerSecretsIT {

    /** A node says what it cannot mount after a while, and its Events are read when a start is slow. */
    private static final Duration SOON = Duration.ofSeconds(150);

    private static final String SECRET = "sandglass-mcp-github";

    private TestNamespace namespace;
    private TestNamespace.Running operator;

    @BeforeEach
    void start() {
        namespace = new TestNamespace();
        operator = namespace.operator(Map.of("OPERATOR_ALLOWED_IMAGES", "**"));
    }

    @AfterEach
    void stop() {
        operator.close();
        namespace.close();
    }

    private static SandboxToolServerSpec spec(String... keys) {
        List<ServerVariable> env = Arrays.stream(keys)
                .map(key -> new ServerVariable(
                        "FROM_" + key.toUpperCase(Locale.ROOT), null, new ValueSource(new SecretKeyRef(SECRET, key))))
                .toList();
        StdioServer stdio = new StdioServer(null, "npx", List.of("-y", "some-server"), env, null);
        return new SandboxToolServerSpec(stdio, null, null, null, null, null, null, null, null);
    }

    private void create(SandboxToolServerSpec spec) {
        SandboxToolServer server = new SandboxToolServer();
        server.getMetadata().setName("time");
        server.getMetadata().setNamespace(namespace.name);
        server.setSpec(spec);
        namespace.admin.resource(server).create();
    }

    private void secret(String... keys) {
        SecretBuilder secret = new SecretBuilder()
                .withNewMetadata()
                .withName(SECRET)
                .withNamespace(namespace.name)
                .endMetadata();
        for (String key : keys) {
            secret.addToStringData(key, "not-a-real-value");
        }
        namespace.admin.resource(secret.build()).createOr(existing -> existing.update());
    }

    private Resource<SandboxToolServer> server() {
        return namespace
                .admin
                .resources(SandboxToolServer.class)
                .inNamespace(namespace.name)
                .withName("time");
    }

    private String told(ToolServerCondition type, String status, String reason, Predicate<String> words) {
        return await().atMost(SOON)
                .until(
                        () -> server().require()
                                .observed()
                                .condition(type)
                                .filter(told -> told.getStatus().equals(status)
                                        && told.getReason().equals(reason))
                                .map(told -> told.getMessage())
                                .filter(words),
                        Optional::isPresent)
                .orElseThrow();
    }

    private void ready() {
        told(READY, "True", "Running", words -> true);
    }

    /** The only pod that is not on its way out. */
    private Pod pod() {
        return await().atMost(SOON)
                .until(
                        () -> namespace.pods().stream()
                                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                                .toList(),
                        pods -> pods.size() == 1)
                .getFirst();
    }

    private static List<String> keys(Pod pod) {
        return pod.getSpec().getVolumes().stream()
                .filter(volume -> volume.getSecret() != null)
                .flatMap(volume -> volume.getSecret().getItems().stream())
                .map(item -> item.getKey() + "=" + item.getPath())
                .toList();
    }

    @Test
    void aSecretIsMissedWithoutBeingReadAndMountedWhenItIsThere() {
        create(spec("token"));

        String missing = told(AVAILABLE, "False", "VolumeMissing", words -> true);
        assertThat(missing)
                .contains("there is no Secret " + SECRET, "the entry token", "kubectl create secret generic " + SECRET);
        assertThat(told(READY, "False", "VolumeMissing", words -> true)).isEqualTo(missing);
        assertThat(namespace.pods()).isEmpty();

        secret("token", "other");
        ready();

        Pod pod = pod();
        assertThat(keys(pod)).containsExactly("token=token");
        assertThat(pod.getMetadata().getLabels()).containsEntry(SandboxLabels.TOOL_SERVER, "time");
        assertThat(pod.getSpec().getContainers().getFirst().getVolumeMounts())
                .filteredOn(mount -> mount.getName().equals(SECRET))
                .extracting(VolumeMount::getMountPath)
                .containsExactly("/etc/sandglass/mcp/" + SECRET);
        assertThat(operator.requests("GET", "secrets")).isZero();
    }

    @Test
    void anEntryThatIsMissingIsNamedByTheNodeAndWaitedFor() {
        secret("other");
        create(spec("token"));

        told(
                AVAILABLE,
                "False",
                "VolumeMissing",
                words -> words.contains("non-existent secret key: token") && words.contains(SECRET));

        secret("other", "token");
        ready();
    }

    @Test
    void anotherListOfEntriesIsMountedInAFreshPod() {
        secret("token", "user");
        create(spec("token"));
        ready();
        String first = pod().getMetadata().getName();

        namespace.again(() -> server().edit(found -> {
            found.setSpec(spec("token", "user"));
            return found;
        }));

        await("the next pod").atMost(SOON).until(() -> namespace.pods().stream()
                .anyMatch(pod -> keys(pod).equals(List.of("token=token", "user=user"))));
        ready();
        assertThat(pod().getMetadata().getName()).isNotEqualTo(first);
        assertThat(operator.requests("POST", "pods")).isEqualTo(2);
    }

    /** Without the chart's policies here: the operator does not rely on them. */
    @Test
    void noPodIsMadeOfAChildThatSomeoneElseEdited() {
        secret("token");
        create(spec("token"));
        ready();

        SandboxSpec right = namespace.get("time-mcp").wanted();
        namespace.edit(
                "time-mcp",
                new SandboxSpec("registry.example.com/mine:1", right.memory(), right.cpus(), null, null, false));
        namespace.admin.resource(pod()).delete();

        namespace.await(
                "time-mcp",
                SOON,
                found -> found.wanted().equals(right)
                        && Integer.valueOf(2).equals(found.observed().incarnation()));
        ready();
        assertThat(keys(pod())).containsExactly("token=token");
        assertThat(operator.requests("POST", "pods"))
                .as("none of them with the other image")
                .isEqualTo(2);
    }
}
