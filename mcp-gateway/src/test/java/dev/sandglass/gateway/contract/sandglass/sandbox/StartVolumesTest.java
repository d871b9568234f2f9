package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class StartVolumesTest {

    private static SandboxConfig read(String config) {
        String json = "{'config':" + config + "}";
        return StartConfig.read(Arguments.of((ObjectNode)
                JsonMapper.shared().readTree(json.replace('\'', '"').replace("|", "\\\\"))));
    }

    private static String refusal(String config) {
        var thrown = new StringBuilder();
        assertThatThrownBy(() -> read(config))
                .isInstanceOf(InvalidArgument.class)
                .satisfies(refused -> thrown.append(refused.getMessage()));
        return thrown.toString();
    }

    @Test
    void aClaimIsReadOnlyUnlessItSaysOtherwise() {
        assertThat(read("{'volumes':['shared:/data','out.put-1:/out:rw','words:/words:ro']}")
                        .volumes())
                .containsExactly(
                        Volume.ofClaim("volume-1", "/data", true, "shared"),
                        Volume.ofClaim("volume-2", "/out", false, "out.put-1"),
                        Volume.ofClaim("volume-3", "/words", true, "words"));
        assertThat(read("{'volumes':[]}").volumes()).isEmpty();
        assertThat(read("{}").volumes()).isNull();
    }

    /** A bar stands for a backslash. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/home/me:/data",
                "/:/data",
                "./data:/data",
                "../data:/data:rw",
                "data/in:/data",
                ".:/data",
                "..:/data",
                "~:/data",
                "~/data:/data",
                "$HOME:/data",
                "/var/run/docker.sock",
                "C:|Users|me:/data",
                "c:/Users/me:/data",
                "c:/Users/me:/data:ro",
                "||server|share:/data"
            })
    void pathsOfAHostAreRefusedWithWhatToDoInstead(String volume) {
        assertThat(refusal("{'volumes':['ok:/ok','" + volume + "']}"))
                .startsWith("'config.volumes[1]' names a path of a host")
                .contains("does not see", "PersistentVolumeClaim", "my-claim:/data", "sandbox_write_file");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '^',
            value = {
                "claim; must be 'claim:/path', 'claim:/path:ro' or 'claim:/path:rw', not 'claim'",
                "a:/b:ro:rw; must be 'claim:/path', 'claim:/path:ro' or 'claim:/path:rw'",
                "a:/b:rx; must end with ':ro' or ':rw', or with the path, and not with ':rx'",
                "a:/b:; must end with ':ro' or ':rw'",
                ":/data; '' is not the name of an object of Kubernetes",
                "My_Claim:/data; 'My_Claim' is not the name of an object of Kubernetes",
                "a:data; 'data' is not a path to mount at",
                "a:; '' is not a path to mount at",
                "a:/data/../etc; '/data/../etc' is not a path to mount at",
                "a:/etc; nothing can be mounted at '/etc'",
                "a:/workspace; nothing can be mounted at '/workspace': /workspace (for files that stay, set spec.workspace)",
                "a:/workspace/in:rw; nothing can be mounted at '/workspace/in': /workspace (for files that stay, set spec.workspace)"
            })
    void whatElseIsWrongIsNamedWithItsRule(String volume, String rule) {
        assertThat(refusal("{'volumes':['" + volume + "']}"))
                .startsWith("'config.volumes[0]'")
                .contains(rule);
    }

    @Test
    void thereAreAtMostSixteenAndTheirPathsLieApart() {
        String most = IntStream.range(0, 16).mapToObj(i -> "'c:/v" + i + "'").collect(Collectors.joining(","));
        assertThat(read("{'volumes':[" + most + "]}").volumes()).hasSize(16);
        assertThat(refusal("{'volumes':[" + most + ",'c:/more']}"))
                .contains("'config.volumes' must be a list of at most 16 texts");
        assertThat(refusal("{'volumes':['a:/data','b:/data/deep']}"))
                .contains("'config.volumes': volume 'volume-2'", "at or below '/data'");
        assertThat(refusal("{'volumes':'a:/data'}")).contains("must be a list");
        assertThat(refusal("{'volumes':[7]}")).contains("'config.volumes[0]' must be a text");
        assertThat(refusal("{'volumes':['" + "a".repeat(520) + "']}")).contains("at most 513 characters");
    }

    @Test
    void aWorkspaceIsASizeOrAnObject() {
        assertThat(read("{'workspace':'5Gi'}").workspace()).isEqualTo(workspace("5Gi", null, null));
        assertThat(read("{'workspace':512}").workspace()).isEqualTo(workspace("512Mi", null, null));
        assertThat(read("{'workspace':{'size':'5Gi'}}").workspace()).isEqualTo(workspace("5Gi", null, null));
        assertThat(read("{'workspace':{'size':'5Gi','storage_class':'fast','keep':true}}")
                        .workspace())
                .isEqualTo(workspace("5Gi", "fast", true));
        assertThat(read("{'workspace':{'size':'5Gi','keep':false}}").workspace())
                .isEqualTo(workspace("5Gi", null, false));
        assertThat(read("{}").workspace()).isNull();
    }

    private static Workspace workspace(String size, @Nullable String storageClass, @Nullable Boolean keep) {
        return new Workspace(new Quantity(size), storageClass, keep);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '^',
            value = {
                "{}; Missing required 'config.workspace.size' parameter",
                "{'keep':true}; Missing required 'config.workspace.size' parameter",
                "'much'; 'config.workspace' must be a number of MiB greater than 0, or a quantity",
                "0; 'config.workspace' must be a number of MiB greater than 0, or a quantity",
                "[]; 'config.workspace' must be a number of MiB greater than 0, or a quantity",
                "{'size':'-1'}; 'config.workspace.size' must be a number of MiB",
                "{'size':'1Gi','keep':'yes'}; 'config.workspace.keep' must be true or false",
                "{'size':'1Gi','storage_class':'Fast!'}; 'config.workspace.storage_class': 'Fast!' is not the name",
                "{'size':'1Gi','class':'a'}; 'config.workspace.class' is not known; known are keep, size, storage_class"
            })
    void aWorkspaceThatIsWrongIsNamedWithItsRule(String workspace, String rule) {
        assertThat(refusal("{'workspace':" + workspace + "}")).startsWith(rule);
    }
}
