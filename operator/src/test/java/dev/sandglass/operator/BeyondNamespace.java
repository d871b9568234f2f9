package dev.sandglass.operator;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** What a test needs of the cluster besides its namespace, under the same name; garbage collection takes both. */
public record BeyondNamespace(TestNamespace namespace) {

    private static final String DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

    /** A storage class like the cluster's default, but that its claims may grow. */
    public String growingClass() {
        StorageClass usual = admin().storage().v1().storageClasses().list().getItems().stream()
                .filter(found ->
                        "true".equals(found.getMetadata().getAnnotations().get(DEFAULT_CLASS)))
                .findFirst()
                .orElseThrow();
        usual.setMetadata(metadata());
        usual.setAllowVolumeExpansion(true);
        admin().resource(usual).create();
        return namespace.name;
    }

    /** Hides all other tenants' namespaces from an operator, which would take the sandboxes in them for its own. */
    public Interceptor blinkers() {
        return new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                URI asked = request.uri();
                if (asked.getPath().endsWith("/api/v1/namespaces")) {
                    builder.uri(URI.create(asked + "&fieldSelector=metadata.name%3D" + namespace.name));
                }
            }
        };
    }

    /**
     * Makes the namespace a tenant's by nothing but its label, with an operator that may look at all others but write
     * in this one alone.
     */
    public void tenantByLabel() {
        Role here = admin().rbac()
                .roles()
                .inNamespace(namespace.name)
                .withName("sandglass-operator")
                .edit(role -> {
                    role.getRules().add(rule("serviceaccounts", "create"));
                    return role;
                });
        List<PolicyRule> reading = new ArrayList<>(here.getRules());
        reading.forEach(rule -> rule.getVerbs().retainAll(List.of("list", "watch")));
        reading.removeIf(rule -> rule.getVerbs().isEmpty());
        reading.add(rule("namespaces", "list", "watch"));
        readEverywhere(reading);
        namespace.awaitGranted(namespace.name, rule("serviceaccounts", "create"));
        namespace.awaitGranted(null, rule("namespaces", "watch"));
        namespace.loseAccount();
        namespace.again(() -> admin().namespaces().withName(namespace.name).edit(found -> {
            found.getMetadata().getLabels().put(SandboxLabels.TENANT, "it");
            return found;
        }));
    }

    private void readEverywhere(List<PolicyRule> rules) {
        admin().resource(new ClusterRoleBuilder()
                        .withMetadata(metadata())
                        .withRules(rules)
                        .build())
                .create();
        admin().resource(new ClusterRoleBindingBuilder()
                        .withMetadata(metadata())
                        .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", namespace.name)
                        .addNewSubject()
                        .withKind("ServiceAccount")
                        .withName("sandglass-operator")
                        .withNamespace(namespace.name)
                        .endSubject()
                        .build())
                .create();
    }

    private static PolicyRule rule(String resource, String... verbs) {
        return new PolicyRuleBuilder()
                .addToApiGroups("")
                .addToResources(resource)
                .addToVerbs(verbs)
                .build();
    }

    private ObjectMeta metadata() {
        Namespace owner = admin().namespaces().withName(namespace.name).require();
        return new ObjectMetaBuilder()
                .withName(namespace.name)
                .addNewOwnerReference()
                .withApiVersion("v1")
                .withKind("Namespace")
                .withName(namespace.name)
                .withUid(owner.getMetadata().getUid())
                .endOwnerReference()
                .build();
    }

    private KubernetesClient admin() {
        return namespace.admin;
    }
}
