package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeRulesTest {

    private static final Quantity DISK = new Quantity("2Gi");

    private static Optional<String> problem(Volume... volumes) {
        return VolumeRules.problem(List.of(volumes), DISK);
    }

    private static Volume at(String path) {
        return Volume.ofClaim("data", path, true, "shared");
    }

    private static Volume scratch(String limit) {
        return new Volume("s", "/scratch", null, null, null, null, new Volume.EmptyDir(limit));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/data",
                "/workspaces",
                "/workspace.d/data",
                "/mnt/workspace",
                "/mnt/a/b.c",
                "/home/x",
                "/binary",
                "/optional",
                "/a@b+c-d_e"
            })
    void pathsOfOnesOwnAreFree(String path) {
        assertThat(problem(at(path))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "data",
                "//data",
                "/data/",
                "/data/.",
                "/data/..",
                "/../data",
                "/a//b",
                "/a b",
                "/a:b",
                "/$(A)",
                "/a\n",
                "/ä",
                "/..a"
            })
    void pathsThatAreNotAbsoluteNormalizedAndPlainAreRefused(String path) {
        assertThat(problem(at(path)).orElseThrow()).contains("is not a path to mount at");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/workspace",
                "/workspace/data",
                "/workspace/deep/data",
                "/workspace/.sandglass",
                "/workspace/.sandglass/pictures",
                "/app",
                "/app/data",
                "/tmp",
                "/tmp/x",
                "/run",
                "/run/sandglass",
                "/var/run/sandglass",
                "/opt",
                "/opt/sandglass/bin",
                "/proc/self",
                "/sys",
                "/dev/shm",
                "/etc",
                "/usr/local",
                "/lib64"
            })
    void foldersOfTheSystemAndTheSupervisorAreRefused(String path) {
        assertThat(problem(at(path)).orElseThrow())
                .contains("nothing can be mounted at '" + path + "'", "spec.workspace");
    }

    @Test
    void aPathHasAtMost256Characters() {
        assertThat(problem(at("/" + "d".repeat(255)))).isEmpty();
        assertThat(problem(at("/" + "d".repeat(256))).orElseThrow()).contains("at most 256");
    }

    @Test
    void thereAreAtMostSixteenVolumes() {
        List<Volume> most = IntStream.range(0, 16)
                .mapToObj(i -> Volume.ofClaim("v" + i, "/v" + i, true, "shared"))
                .toList();
        assertThat(VolumeRules.problem(most, DISK)).isEmpty();
        List<Volume> more = IntStream.range(0, 17)
                .mapToObj(i -> Volume.ofClaim("v" + i, "/v" + i, true, "shared"))
                .toList();
        assertThat(VolumeRules.problem(more, DISK).orElseThrow()).contains("at most 16", "not 17");
    }

    @Test
    void namesAreLabelsOfAtMostFortyCharactersAndUnique() {
        assertThat(problem(Volume.ofClaim("n".repeat(40), "/a", true, "c"))).isEmpty();
        assertThat(problem(Volume.ofClaim("n".repeat(41), "/a", true, "c")).orElseThrow())
                .contains("at most 40");
        assertThat(problem(Volume.ofClaim("A_b", "/a", true, "c")).orElseThrow())
                .contains("'A_b'");
        assertThat(problem(Volume.ofClaim("n", "/a", true, "c"), Volume.ofClaim("n", "/b", true, "c"))
                        .orElseThrow())
                .contains("twice");
    }

    @Test
    void pathsLieApart() {
        assertThat(problem(Volume.ofClaim("a", "/data", true, "c"), Volume.ofClaim("b", "/data2", true, "c")))
                .isEmpty();
        assertThat(problem(Volume.ofClaim("a", "/data", true, "c"), Volume.ofClaim("b", "/data", true, "c"))
                        .orElseThrow())
                .contains("at or below '/data'");
        assertThat(problem(Volume.ofClaim("a", "/data/x/y", true, "c"), Volume.ofClaim("b", "/data", true, "c"))
                        .orElseThrow())
                .startsWith("volume 'a'");
    }

    @Test
    void exactlyOneSourceIsNeeded() {
        assertThat(problem(new Volume("a", "/a", null, null, null, null, null)).orElseThrow())
                .contains("exactly one", "hostPath");
        assertThat(problem(new Volume("a", "/a", null, new Volume.Claim("c"), null, null, new Volume.EmptyDir(null)))
                        .orElseThrow())
                .contains("exactly one");
    }

    @Test
    void aSecretIsOpenedByItsNameAndNothingWritesToIt() {
        Volume.Secret open = new Volume.Secret("mountable-key");
        assertThat(problem(new Volume("a", "/a", null, null, null, open, null))).isEmpty();
        assertThat(problem(new Volume("a", "/a", false, null, null, open, null)).orElseThrow())
                .contains("can only be read");
        for (String name : new String[] {
            "key", "sbx-7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80-1", "Mountable-key", "sandglass-mcp-key", ""
        }) {
            assertThat(problem(new Volume("a", "/a", null, null, null, new Volume.Secret(name), null))
                            .orElseThrow())
                    .contains("begins with mountable-");
        }
    }

    @Test
    void scratchRoomIsBoundedByTheDisk() {
        assertThat(problem(scratch("2Gi"))).isEmpty();
        assertThat(problem(scratch("2147483649")).orElseThrow()).contains("at most spec.disk, which is 2Gi");
        assertThat(problem(scratch("0Mi")).orElseThrow()).contains("more than 0");
        assertThat(problem(scratch("1e3")).orElseThrow()).contains("a size such as 512Mi");
        assertThat(problem(new Volume("s", "/s", true, null, null, null, new Volume.EmptyDir(null)))
                        .orElseThrow())
                .contains("stays empty");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A", "a/b", "../a", "a..b", "-a", "a_b"})
    void objectsHaveNamesOfKubernetes(String name) {
        assertThat(problem(Volume.ofClaim("a", "/a", true, name)).orElseThrow())
                .contains("is not the name of an object");
    }

    @Test
    void anObjectsNameHasAtMost253Characters() {
        assertThat(VolumeRules.objectProblem("a".repeat(253))).isEmpty();
        assertThat(VolumeRules.objectProblem("a".repeat(254))).isPresent();
    }
}
