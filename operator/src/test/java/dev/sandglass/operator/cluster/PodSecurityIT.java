package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every pod of the golden files, as the API server of a namespace with Pod Security {@code restricted} takes it. */
class PodSecurityIT {

    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    private static TestNamespace namespace;

    @BeforeAll
    static void prepare() {
        namespace = new TestNamespace();
    }

    @AfterAll
    static void cleanUp() {
        namespace.close();
    }

    @Test
    void everyGoldenPodIsAdmitted() throws IOException {
        List<Path> files;
        try (Stream<Path> scenarios = Files.list(GOLDEN)) {
            files = scenarios
                    .map(scenario -> scenario.resolve("out-Pod.yaml"))
                    .filter(Files::exists)
                    .toList();
        }
        assertThat(files).isNotEmpty();
        for (Path file : files) {
            assertThat(asked(pod(file)).getMetadata().getUid())
                    .as(file.toString())
                    .isNotEmpty();
        }
    }

    @Test
    void aPodWithOneFieldLessIsRefused() throws IOException {
        Pod weaker = pod(GOLDEN.resolve("first-start/out-Pod.yaml"))
                .edit()
                .editSpec()
                .editFirstContainer()
                .editSecurityContext()
                .withAllowPrivilegeEscalation(null)
                .endSecurityContext()
                .endContainer()
                .endSpec()
                .build();

        assertThatThrownBy(() -> asked(weaker))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("violates PodSecurity \"restricted");
    }

    /** Without what else the API server would look for in the cluster: classes, another account, the owner. */
    private static Pod pod(Path file) throws IOException {
        return new PodBuilder(Serialization.unmarshal(Files.readString(file), Pod.class))
                .editMetadata()
                .withNamespace(namespace.name)
                .withOwnerReferences()
                .endMetadata()
                .editSpec()
                .withRuntimeClassName(null)
                .withPriorityClassName(null)
                .withServiceAccountName("sandglass-sandbox")
                .endSpec()
                .build();
    }

    private static Pod asked(Pod pod) {
        return namespace.admin.resource(pod).dryRun(true).create();
    }
}
