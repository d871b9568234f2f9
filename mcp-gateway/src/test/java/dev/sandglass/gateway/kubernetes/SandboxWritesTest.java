package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvVariable;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SandboxWritesTest {

    private static final SandboxRef REF =
            new SandboxRef("default", "sandglass-default", "my-box-x0123456789", "My_Box");

    @Test
    void aNewResourceKeepsTheGivenNameAndItsMaker() {
        Sandbox created = SandboxWrites.created(
                REF, new SandboxConfig(null, "1Gi", null, null, Map.of("B", "2", "A", "1")), "alice");

        assertThat(created.getMetadata().getName()).isEqualTo("my-box-x0123456789");
        assertThat(created.getMetadata().getAnnotations())
                .containsEntry(SandboxLabels.GIVEN_NAME, "My_Box")
                .containsEntry(SandboxLabels.CREATED_BY, "alice");
        assertThat(created.getSpec().memory()).isEqualTo(new Quantity("1Gi"));
        assertThat(created.getSpec().env()).containsExactly(new EnvVariable("A", "1"), new EnvVariable("B", "2"));
    }

    @Test
    void nothingAskedForChangesNothing() {
        assertThat(SandboxWrites.changes(SandboxSpec.DEFAULT, SandboxConfig.UNCHANGED))
                .isEmpty();
        assertThat(SandboxWrites.changes(
                        SandboxSpec.DEFAULT, new SandboxConfig(null, "0.5Gi", "1000m", null, Map.of())))
                .isEmpty();
    }

    @Test
    void deadlinesAndRuntimeClassAreWrittenIfTheyDiffer() {
        var config =
                new SandboxConfig(null, null, null, null, null, null, null, "gvisor", "90m", "8h", "24h", null, null);

        SandboxSpec created = SandboxWrites.created(REF, config, "alice").getSpec();

        assertThat(created)
                .isEqualTo(SandboxSpec.DEFAULT
                        .withRuntimeClassName("gvisor")
                        .withIdleTimeout("90m")
                        .withMaxLifetime("8h")
                        .withRetention("24h"));
        assertThat(SandboxWrites.changes(created, config)).isEmpty();
        assertThat(SandboxWrites.changes(created.withIdleTimeout("1h30m"), config))
                .isEmpty();
        assertThat(SandboxWrites.changes(created, SandboxConfig.UNCHANGED)).isEmpty();
        assertThat(SandboxWrites.changes(SandboxSpec.DEFAULT.withMaxLifetime("7h"), config))
                .containsOnly(
                        Map.entry("runtimeClassName", "gvisor"),
                        Map.entry("idleTimeout", "90m"),
                        Map.entry("maxLifetime", "8h"),
                        Map.entry("retention", "24h"));
    }

    @Test
    void aStartTakesASuspendedOneUpAndChangesOnlyWhatDiffers() {
        SandboxSpec present = SandboxSpec.DEFAULT.withSuspended(true);

        Map<String, Object> changes =
                SandboxWrites.changes(present, new SandboxConfig("img", "1Gi", "1", null, Map.of("A", "1")));

        assertThat(changes)
                .containsOnly(
                        Map.entry("suspended", false),
                        Map.entry("image", "img"),
                        Map.entry("memory", "1Gi"),
                        Map.entry("env", List.of(new EnvVariable("A", "1"))));
    }

    private static SandboxConfig with(@Nullable List<Volume> volumes, @Nullable Workspace workspace) {
        return new SandboxConfig(null, null, null, null, null, volumes, workspace, null, null, null, null, null, null);
    }

    @Test
    void volumesAndWorkspaceAreThoseOfTheConfiguration() {
        List<Volume> volumes = List.of(Volume.ofClaim("volume-1", "/data", true, "shared"));
        Workspace workspace = new Workspace(new Quantity("5Gi"), "fast", true);

        Sandbox created = SandboxWrites.created(REF, with(volumes, workspace), "alice");

        assertThat(created.getSpec().volumes()).isEqualTo(volumes);
        assertThat(created.getSpec().workspace()).isEqualTo(workspace);
        assertThat(SandboxWrites.changes(created.getSpec(), with(volumes, workspace)))
                .isEmpty();
        assertThat(SandboxWrites.changes(created.getSpec(), with(List.of(), null)))
                .containsOnly(Map.entry("volumes", List.of()));
    }

    @Test
    void aWorkspaceOfWhichOnlyTheSizeIsSaidStaysKept() {
        SandboxSpec present = SandboxSpec.DEFAULT.withWorkspace(new Workspace(new Quantity("5Gi"), "fast", true));

        assertThat(SandboxWrites.changes(present, with(null, new Workspace(new Quantity("5Gi"), null, null))))
                .isEmpty();
        assertThat(SandboxWrites.changes(present, with(null, new Workspace(new Quantity("6Gi"), null, null))))
                .containsOnly(Map.entry("workspace", Map.of("size", new Quantity("6Gi"))));
        assertThat(SandboxWrites.changes(present, with(null, new Workspace(new Quantity("5Gi"), "fast", false))))
                .containsOnly(Map.entry("workspace", Map.of("keep", false)));
        assertThat(SandboxWrites.changes(
                        SandboxSpec.DEFAULT, with(null, new Workspace(new Quantity("1Gi"), "slow", null))))
                .containsOnly(Map.entry("workspace", Map.of("size", new Quantity("1Gi"), "storageClassName", "slow")));
    }

    @Test
    void portsAreWrittenAndReplacedAsAWhole() {
        List<SandboxPort> ports = List.of(new SandboxPort(null, 8000));
        SandboxConfig asked = SandboxConfig.UNCHANGED.withPorts(ports);

        assertThat(SandboxWrites.created(REF, asked, "alice").getSpec().ports()).isEqualTo(ports);
        assertThat(SandboxWrites.changes(SandboxSpec.DEFAULT, asked)).containsOnly(Map.entry("ports", ports));
        assertThat(SandboxWrites.changes(SandboxSpec.DEFAULT.withPorts(ports), asked))
                .isEmpty();
        assertThat(SandboxWrites.changes(
                        SandboxSpec.DEFAULT.withPorts(ports), SandboxConfig.UNCHANGED.withPorts(List.of())))
                .containsOnly(Map.entry("ports", List.of()));
    }

    @Test
    void allowedDomainsAreWrittenAndReplacedAsAWhole() {
        SandboxConfig asked = SandboxConfig.UNCHANGED.withAllowedDomains(List.of("example.com"));
        SandboxSpec present = SandboxSpec.DEFAULT.withAllowedDomains(List.of("example.com"));

        assertThat(SandboxWrites.created(REF, asked, "alice").getSpec()).isEqualTo(present);
        assertThat(SandboxWrites.changes(SandboxSpec.DEFAULT, asked))
                .containsOnly(Map.entry("allowedDomains", List.of("example.com")));
        assertThat(SandboxWrites.changes(present, asked)).isEmpty();
        assertThat(SandboxWrites.changes(present, SandboxConfig.UNCHANGED)).isEmpty();
        SandboxConfig closed = SandboxConfig.UNCHANGED.withAllowedDomains(List.of());
        assertThat(SandboxWrites.changes(present, closed)).containsOnly(Map.entry("allowedDomains", List.of()));
        assertThat(SandboxWrites.changes(SandboxSpec.DEFAULT, closed))
                .as("no network is not what the installation allows")
                .containsOnly(Map.entry("allowedDomains", List.of()));
    }

    @Test
    void withoutAllowedDomainsTheResourceHasNoneAndAnEmptyListStaysOne() {
        SandboxConfig closed = SandboxConfig.UNCHANGED.withAllowedDomains(List.of());

        assertThat(Serialization.asJson(SandboxWrites.created(REF, SandboxConfig.UNCHANGED, "alice")))
                .doesNotContain("allowedDomains");
        assertThat(Serialization.asJson(SandboxWrites.created(REF, closed, "alice")))
                .contains("\"allowedDomains\":[]");
    }
}
