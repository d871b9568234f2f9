package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.child.NamespaceAccess;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.NamespaceAccount;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The chart's policies for the namespaces it owns are those that the operator makes elsewhere. With another it would find
 * that the namespace's is not enough, and give every sandbox one of its own.
 */
class ChartPoliciesTest {

    private static final Path GOLDEN = Path.of("../helm/tests/golden");

    @ParameterizedTest
    @CsvSource({
        "default.yaml, sandglass-default, true, false",
        "no-egress.yaml, sandglass-default, false, false",
        "everything.yaml, agents-b, true, true"
    })
    void whatEverySandboxMayDoIsTheSame(String rendered, String namespace, boolean proxy, boolean splitDns)
            throws IOException {
        Optional<Egress> egress = Optional.of(
                        new Egress(new DeniedRanges(List.of(), List.of()), false, splitDns, DefaultDomains.NONE))
                .filter(way -> proxy);

        assertThat(ofTheChart(rendered, "sandglass-access", namespace).getSpec())
                .isEqualTo(NamespaceAccess.desired(namespace, "sandglass-system", egress)
                        .getSpec());
    }

    @ParameterizedTest
    @ValueSource(strings = {"default.yaml", "no-egress.yaml", "everything.yaml"})
    void theDefaultDenyIsTheSame(String rendered) throws IOException {
        assertThat(ofTheChart(rendered, "sandglass-default-deny", "sandglass-default")
                        .getSpec())
                .isEqualTo(NamespacePolicy.desired("sandglass-default").getSpec());
    }

    @Test
    void theAccountIsTheSame() throws IOException {
        ServiceAccount made = new NamespaceAccount("sandglass-sandbox", List.of("tenant-pull")).desired("agents-b");
        ServiceAccount rendered = ofTheChart("everything.yaml", ServiceAccount.class, "sandglass-sandbox", "agents-b");

        assertThat(rendered.getAutomountServiceAccountToken()).isEqualTo(made.getAutomountServiceAccountToken());
        assertThat(rendered.getImagePullSecrets()).isEqualTo(made.getImagePullSecrets());
    }

    @Test
    void thePoolOfATenantIsOfTheDefaultSize() throws IOException {
        assertThat(objects("everything.yaml", SandboxPool.class, "default", "agents-b"))
                .extracting(SandboxPool::wanted)
                .as("the pool, and the empty one by which Helm deletes it")
                .containsExactlyInAnyOrder(
                        new SandboxPoolSpec(3, PoolTemplate.DEFAULT, List.of("python", "javascript")),
                        new SandboxPoolSpec(0, PoolTemplate.DEFAULT, List.of("python", "javascript")));
        assertThat(objects("default.yaml", SandboxPool.class, "default", "sandglass-default"))
                .isEmpty();
    }

    /** What the policy on claims knows by name. A claim that sets more than it names would be refused. */
    @Test
    void thePolicyOnClaimsNamesWhatAClaimSets() throws IOException {
        String policy = Arrays.stream(
                        Files.readString(GOLDEN.resolve("default.yaml")).split("\n---\n"))
                .filter(document -> document.contains("\nkind: ValidatingAdmissionPolicy\n")
                        && document.contains("name: sandglass-system-sandglass-pod-claims\n"))
                .findFirst()
                .orElseThrow();

        assertThat(List.of(
                        SandboxLabels.SANDBOX,
                        SandboxLabels.SANDBOX_UID,
                        SandboxLabels.INCARNATION,
                        SandboxLabels.SEAT,
                        SandboxLabels.POOL,
                        SandboxLabels.CLAIMED_AT,
                        SandboxLabels.POD_SPEC_HASH,
                        SandboxLabels.OWN_MAX_LIFETIME,
                        SandboxLabels.LOST))
                .allSatisfy(key -> assertThat(policy).contains('"' + key + '"'));
    }

    private static NetworkPolicy ofTheChart(String rendered, String name, String namespace) throws IOException {
        NetworkPolicy policy = ofTheChart(rendered, NetworkPolicy.class, name, namespace);
        assertThat(NamespaceAccess.isOurs(policy))
                .as("the operator keeps its hands off it")
                .isFalse();
        return policy;
    }

    private static <R extends HasMetadata> R ofTheChart(String rendered, Class<R> kind, String name, String namespace)
            throws IOException {
        List<R> found = objects(rendered, kind, name, namespace);
        assertThat(found).hasSize(1);
        return found.getFirst();
    }

    private static <R extends HasMetadata> List<R> objects(
            String rendered, Class<R> kind, String name, String namespace) throws IOException {
        return Arrays.stream(Files.readString(GOLDEN.resolve(rendered)).split("\n---\n"))
                .filter(document -> document.contains("\nkind: " + kind.getSimpleName() + "\n"))
                .map(document -> Serialization.unmarshal(document, kind))
                .filter(object -> object.getMetadata().getName().equals(name)
                        && object.getMetadata().getNamespace().equals(namespace))
                .toList();
    }
}
