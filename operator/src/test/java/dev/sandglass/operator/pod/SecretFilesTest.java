package dev.sandglass.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SecretFilesTest {

    private static final Pod POD = new PodBuilder()
            .withNewMetadata()
            .withName("pod")
            .addToAnnotations("other", "stays")
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName(SandboxContainer.NAME)
            .addNewVolumeMount()
            .withName("workspace")
            .withMountPath("/workspace")
            .endVolumeMount()
            .endContainer()
            .addNewVolume()
            .withName("workspace")
            .endVolume()
            .endSpec()
            .build();

    private static SecretFiles files(Map<String, List<String>> keys) {
        var sorted = new TreeMap<String, java.util.SortedSet<String>>();
        keys.forEach((secret, entries) -> sorted.put(secret, new TreeSet<>(entries)));
        return new SecretFiles(sorted);
    }

    private static List<Volume> added(SecretFiles files) {
        return files.mountedIn(POD).getSpec().getVolumes().stream().skip(1).toList();
    }

    private static List<VolumeMount> mounted(SecretFiles files) {
        return files.mountedIn(POD).getSpec().getContainers().getFirst().getVolumeMounts().stream()
                .skip(1)
                .toList();
    }

    @Test
    void eachSecretIsAFolderWithTheEntriesThatAreNamedAndNoOther() {
        SecretFiles files = files(Map.of(
                "sandglass-mcp-github", List.of("user", "token"),
                "sandglass-mcp-slack", List.of(".key")));

        assertThat(added(files))
                .allSatisfy(volume -> assertThat(volume.getSecret().getOptional())
                        .as("without the Secret, no pod")
                        .isFalse());
        assertThat(added(files))
                .extracting(volume -> volume.getSecret().getSecretName())
                .containsExactly("sandglass-mcp-github", "sandglass-mcp-slack");
        assertThat(added(files))
                .extracting(volume -> volume.getSecret().getItems())
                .containsExactly(
                        List.of(new KeyToPath("token", null, "token"), new KeyToPath("user", null, "user")),
                        List.of(new KeyToPath(".key", null, ".key")));
        assertThat(mounted(files))
                .extracting(VolumeMount::getMountPath)
                .containsExactly("/etc/sandglass/mcp/sandglass-mcp-github", "/etc/sandglass/mcp/sandglass-mcp-slack");
        assertThat(mounted(files)).allSatisfy(mount -> {
            assertThat(mount.getReadOnly()).isTrue();
            assertThat(mount.getSubPath())
                    .as("a change of the Secret comes through")
                    .isNull();
        });
        assertThat(files.mountedIn(POD).getMetadata().getAnnotations()).containsEntry("other", "stays");
    }

    /** The kubelet says which volume lacks an entry, and by no other name. */
    @Test
    void aVolumeIsNamedLikeItsSecretWhereKubernetesTakesThatName() {
        String longest = "sandglass-mcp-" + "a".repeat(49);
        SecretFiles files = files(Map.of(
                longest,
                List.of("a"),
                longest + "b",
                List.of("a"),
                longest + "c",
                List.of("a"),
                "sandglass-mcp-a.b",
                List.of("a")));

        List<String> names = added(files).stream().map(Volume::getName).toList();
        assertThat(names).contains(longest).doesNotHaveDuplicates().allSatisfy(name -> assertThat(name)
                .hasSizeLessThanOrEqualTo(63)
                .matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?"));
        assertThat(mounted(files)).extracting(VolumeMount::getName).containsExactlyElementsOf(names);
    }

    @Test
    void withoutEntriesAPodStaysAsItIs() {
        assertThat(SecretFiles.NONE.mountedIn(POD)).isEqualTo(POD);
        assertThat(SecretFiles.NONE.areIn(POD)).isTrue();
    }

    @Test
    void aPodTellsWhichEntriesItWasMadeWith() {
        SecretFiles files = files(Map.of("sandglass-mcp-a", List.of("b", "c")));
        Pod pod = files.mountedIn(POD);

        assertThat(files(Map.of("sandglass-mcp-a", List.of("c", "b"))).areIn(pod))
                .isTrue();
        assertThat(files(Map.of("sandglass-mcp-a", List.of("b"))).areIn(pod)).isFalse();
        assertThat(files(Map.of("sandglass-mcp-a", List.of("b"), "sandglass-mcp-c", List.of("c")))
                        .areIn(pod))
                .isFalse();
        assertThat(SecretFiles.NONE.areIn(pod)).isFalse();
        assertThat(files.areIn(POD)).isFalse();
    }
}
