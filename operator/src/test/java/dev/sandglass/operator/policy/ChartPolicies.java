package dev.sandglass.operator.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBindingBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** Some of the chart's admission policies, as rendered, which hold in one test's namespace alone. */
final class ChartPolicies implements AutoCloseable {

    private static final Path GOLDEN = Path.of("../helm/tests/golden");

    private final TestNamespace namespace;
    private final Rendering rendering;
    private final List<String> names;

    /** One of the chart's golden renders, and with what all names of its release begin. */
    enum Rendering {
        DEFAULT("default.yaml", "sandglass"),
        EVERYTHING("everything.yaml", "sg");

        private final String file;
        private final String fullname;

        Rendering(String file, String fullname) {
            this.file = file;
            this.fullname = fullname;
        }
    }

    /** @param names the last part of each policy's name */
    ChartPolicies(TestNamespace namespace, String... names) {
        this(namespace, Rendering.DEFAULT, names);
    }

    ChartPolicies(TestNamespace namespace, Rendering rendering, String... names) {
        this.namespace = namespace;
        this.rendering = rendering;
        this.names = List.of(names);
    }

    /** The operator's account with an administrator's rights, so that nothing but a policy refuses it. */
    KubernetesClient operator() {
        return account("operator");
    }

    /** The gateway's account in the same way. */
    KubernetesClient gateway() {
        return account("gateway");
    }

    private KubernetesClient account(String component) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(namespace.admin.getConfiguration())
                        .withImpersonateUsername(ownAccounts() + component)
                        .withImpersonateGroups("system:masters")
                        .build())
                .build();
    }

    /** Not those of an installation in this cluster: its policies would have their say too. */
    private String ownAccounts() {
        return "system:serviceaccount:" + namespace.name + ":sandglass-";
    }

    /** Has the policies hold; the API server reads them a moment later. */
    void install() {
        List<ValidatingAdmissionPolicy> all = policies().toList();
        assertThat(all).hasSameSizeAs(names);
        for (ValidatingAdmissionPolicy policy : all) {
            String name = own(policy);
            policy.getMetadata().setName(name);
            policy.getSpec().getMatchConditions().forEach(match -> match.setExpression(here(match.getExpression())));
            policy.getSpec().getValidations().forEach(rule -> rule.setExpression(here(rule.getExpression())));
            namespace.admin.resource(policy).create();
            namespace
                    .admin
                    .resource(new ValidatingAdmissionPolicyBindingBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .withNewSpec()
                            .withPolicyName(name)
                            .withValidationActions("Deny")
                            .withNewMatchResources()
                            .withNamespaceSelector(new LabelSelectorBuilder()
                                    .addToMatchLabels("kubernetes.io/metadata.name", namespace.name)
                                    .build())
                            .endMatchResources()
                            .endSpec()
                            .build())
                    .create();
        }
    }

    private Stream<ValidatingAdmissionPolicy> policies() {
        try {
            return Arrays.stream(
                    Files.readString(GOLDEN.resolve(rendering.file)).split("\n---\n"))
                    .filter(document -> document.contains("\nkind: ValidatingAdmissionPolicy\n"))
                    .map(document -> namespace
                            .admin
                            .getKubernetesSerialization()
                            .unmarshal(document, ValidatingAdmissionPolicy.class))
                    .filter(policy -> policy.getMetadata()
                            .getName()
                            .matches("sandglass-system-" + rendering.fullname + "-(" + String.join("|", names) + ")"))
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private String own(HasMetadata policy) {
        return namespace.name + "-" + policy.getMetadata().getName();
    }

    /** With the tenant and the accounts of this test instead of the chart's. */
    private String here(String expression) {
        return expression
                .replace("\"sandglass-default\"", "\"" + namespace.name + "\"")
                .replace("system:serviceaccount:sandglass-system:" + rendering.fullname + "-", ownAccounts());
    }

    static void refused(Callable<?> attack, String words) {
        assertThatThrownBy(attack::call)
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining(words);
    }

    static void granted(Callable<?> control) {
        assertThatCode(control::call).doesNotThrowAnyException();
    }

    @Override
    public void close() {
        policies().forEach(policy -> {
            namespace
                    .admin
                    .admissionRegistration()
                    .v1()
                    .validatingAdmissionPolicyBindings()
                    .withName(own(policy))
                    .delete();
            namespace
                    .admin
                    .admissionRegistration()
                    .v1()
                    .validatingAdmissionPolicies()
                    .withName(own(policy))
                    .delete();
        });
    }
}
