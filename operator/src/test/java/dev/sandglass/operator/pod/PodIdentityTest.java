package dev.sandglass.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which pods have no identity, since nothing would hold or collect them. */
class PodIdentityTest {

    private static final PodSubject SUBJECT = new PodSubject("b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44", 2);

    private static ObjectMeta metadata() {
        return new ObjectMetaBuilder()
                .withName(SUBJECT.name())
                .withNamespace("tenant-a")
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .addNewOwnerReference()
                .withApiVersion("sandglass.dev/v1alpha1")
                .withKind("Sandbox")
                .withName("demo")
                .withUid(SUBJECT.id())
                .withController(true)
                .endOwnerReference()
                .build();
    }

    private static PodIdentity identity(ObjectMeta metadata, Map<String, String> environment) {
        return new PodIdentity(metadata, SUBJECT, 70_000, Duration.ofHours(1), environment);
    }

    @Test
    void aPodThatNoPolicySelectsHasNoIdentity() {
        ObjectMeta bare = metadata();
        bare.getLabels().remove(SandboxLabels.COMPONENT);

        assertThatThrownBy(() -> identity(bare, Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is selected by no NetworkPolicy");
    }

    @Test
    void aPodThatNothingOwnsHasNoIdentity() {
        ObjectMeta orphan = metadata();
        orphan.getOwnerReferences().clear();

        assertThatThrownBy(() -> identity(orphan, Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("without an owner");
    }

    @Test
    void aPodThatWouldMountTheSecretOfAnotherHasNoIdentity() {
        ObjectMeta other = metadata();
        other.setName(new PodSubject(SUBJECT.id(), 1).name());

        assertThatThrownBy(() -> identity(other, Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("would have the keys of another one: " + SUBJECT.name());
    }

    @Test
    void whatItWasMadeOfChangesItNoMore() {
        ObjectMeta metadata = metadata();
        Map<String, String> environment = new LinkedHashMap<>(Map.of("GREETING", "hello"));
        PodIdentity identity = identity(metadata, environment);

        metadata.setName("other");
        environment.clear();

        assertThat(identity.metadata().getName()).isEqualTo(SUBJECT.name());
        assertThat(identity.environment()).containsExactly(Map.entry("GREETING", "hello"));
    }
}
