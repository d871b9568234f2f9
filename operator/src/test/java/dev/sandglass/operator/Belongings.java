package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.child.ChildNames;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
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
        assertThat(names(admin.persistentVolumeClaims().inNamespace(here).list().getItems()))
                .as("claims")
                .isEqualTo(claims);
    }

    private static List<String> names(List<? extends HasMetadata> objects) {
        return objects.stream().map(object -> object.getMetadata().getName()).toList();
    }
}
