package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.VolumeRules;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.settings.Authorities;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Where things are mounted. The node's runtime follows links on the way to a mount, and what lies in a volume outlives
 * the container: a mount below one that the code can write would be led wherever the code wants it, ours included.
 */
class MountsTest {

    private static final PodSettings SETTINGS = new PodSettings(
            new ImagePolicy("registry.example.com/kernel:1", List.of()),
            Duration.ofHours(8),
            new NamespaceAccount("sandglass-sandbox", List.of()),
            RuntimeClassPolicy.DEFAULT_ONLY,
            SandboxUsers.DEFAULT,
            Scheduling.anywhere(RequestRatios.of("0.25")),
            Optional.empty(),
            Optional.of(Authorities.empty()));

    private static final SecretFiles SECRETS = new SecretFiles(new TreeMap<>(Map.of(
            "sandglass-mcp-a", new TreeSet<>(Set.of("key")),
            "sandglass-mcp-a.b", new TreeSet<>(Set.of("key")))));

    private static List<Path> mounts(Volume... volumes) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(SandboxSpec.DEFAULT.withVolumes(List.of(volumes)));
        return SECRETS
                .mountedIn(
                        SandboxPod.desired(sandbox, 1, SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE))
                .getSpec()
                .getContainers()
                .getFirst()
                .getVolumeMounts()
                .stream()
                .map(VolumeMount::getMountPath)
                .map(Path::of)
                .toList();
    }

    @Test
    void noMountLiesBelowAnother() {
        List<Path> mounts =
                mounts(Volume.ofClaim("a", "/data/a", false, "a"), Volume.ofClaim("b", "/data/b", true, "b"));

        assertThat(mounts)
                .contains(
                        Path.of("/workspace"),
                        Path.of("/etc/sandglass/ca"),
                        Path.of("/etc/sandglass/mcp/sandglass-mcp-a"),
                        Path.of("/etc/sandglass/mcp/sandglass-mcp-a.b"),
                        Path.of("/data/a"));
        assertThat(mounts).allSatisfy(mount -> assertThat(mounts)
                .filteredOn(other -> !other.equals(mount))
                .noneMatch(mount::startsWith));
    }

    @Test
    void noVolumeOfASpecLiesAtOrBelowOneOfOurs() {
        assertThat(mounts()).allSatisfy(mount -> {
            assertThat(VolumeRules.pathProblem(mount.toString())).isPresent();
            assertThat(VolumeRules.pathProblem(mount + "/x")).isPresent();
            assertThat(VolumeRules.pathProblem(mount + "/x/y")).isPresent();
        });
    }
}
