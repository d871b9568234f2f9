package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What there is in a namespace with one sandbox, against what there should be: no second one, and no leftover. */
record Belongings(TestNamespace namespace) {

    private static final List<String> OF_NAMESPACE = List.of(ChildNames.NAMESPACE_POLICY, ChildNames.NAMESPACE_ACCESS);

    /** One pod with its keys, and the policies. */
    void areThoseOfARunning(Sandbox sandbox) {
        String pod = String.valueOf(sandbox.observed().podName());
        are(List.of(pod), policies(sandbox), claims(sandbox));
    }

    /** The policies, and a workspace that outlives its pod. */
    void areThoseOfASuspended(Sandbox sandbox) {
        are(List.of(), policies(sandbox), claims(sandbox));
    }

    /** The only workspace is as large as is wanted; it goes with its sandbox, or outlives it. */
    void haveTheWorkspaceOf(SandboxSpec spec, boolean inherited) {
        Workspace wanted = spec.workspace();
        if (wanted == null) {
            return;
        }
        assertThat(claims()).singleElement().satisfies(claim -> {
            assertThat(claim.getSpec().getResources().getRequests()).containsEntry("storage", wanted.size());
            assertThat(claim.getMetadata().getOwnerReferences().isEmpty())
                    .as("nobody takes it along")
                    .isEqualTo(inherited || wanted.outlivesSandbox());
        });
    }

    /** Which claims there are, told apart even if they have the same name. */
    List<String> uidsOfClaims() {
        return claims().stream().map(claim -> claim.getMetadata().getUid()).toList();
    }

    /**
     * What the namespace trusts besides the public authorities.
     *
     * @param file with the installation's own, if it has some
     */
    void trust(Optional<String> file) {
        String here = namespace.name;
        ConfigMap found = namespace
                .admin
                .configMaps()
                .inNamespace(here)
                .withName(TrustedAuthorities.NAME)
                .get();
        assertThat(Optional.ofNullable(found).map(ConfigMap::getData))
                .as("authorities")
                .isEqualTo(file.map(name ->
                        TrustedAuthorities.with(read(name)).desired(here).getData()));
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<PersistentVolumeClaim> claims() {
        return namespace
                .admin
                .persistentVolumeClaims()
                .inNamespace(namespace.name)
                .list()
                .getItems();
    }

    /** No sandbox, and of what it had only the policies that are the namespace's. */
    void areNobodys() {
        assertThat(names(namespace
                        .admin
                        .resources(Sandbox.class)
                        .inNamespace(namespace.name)
                        .list()
                        .getItems()))
                .as("sandboxes")
                .isEmpty();
        are(List.of(), OF_NAMESPACE, List.of());
    }

    private static List<String> policies(Sandbox sandbox) {
        return sandbox.wanted().ports().isEmpty()
                ? OF_NAMESPACE
                : Stream.concat(OF_NAMESPACE.stream(), Stream.of(ChildNames.networkPolicy(sandbox)))
                        .toList();
    }

    private static List<String> claims(Sandbox sandbox) {
        return Stream.of(sandbox)
                .filter(found -> found.wanted().workspace() != null)
                .map(ChildNames::workspace)
                .toList();
    }

    private void are(List<String> pods, List<String> policies, List<String> claims) {
        var admin = namespace.admin;
        String here = namespace.name;
        assertThat(names(namespace.pods())).as("pods").isEqualTo(pods);
        assertThat(names(admin.secrets().inNamespace(here).list().getItems()))
                .as("secrets")
                .isEqualTo(pods);
        assertThat(names(admin.network()
                        .v1()
                        .networkPolicies()
                        .inNamespace(here)
                        .list()
                        .getItems()))
                .as("policies")
                .containsExactlyInAnyOrderElementsOf(policies);
        assertThat(names(claims())).as("claims").isEqualTo(claims);
        assertThat(names(admin.serviceAccounts().inNamespace(here).list().getItems()))
                .as("accounts")
                .containsExactlyInAnyOrder("default", "sandglass-operator", "sandglass-sandbox");
    }

    private static List<String> names(List<? extends HasMetadata> objects) {
        return objects.stream().map(object -> object.getMetadata().getName()).toList();
    }
}
