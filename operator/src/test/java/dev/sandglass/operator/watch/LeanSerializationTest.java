package dev.sandglass.operator.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeanSerializationTest {

    private static final String POD = """
            {"apiVersion": "v1", "kind": "Pod",
             "metadata": {"name": "demo", "resourceVersion": "7",
                          "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
                          "futureField": "kept"},
             "spec": {"nodeName": "n", "activeDeadlineSeconds": 60, "containers": [
                {"name": "sandbox", "env": [{"name": "A"}], "ports": [{"containerPort": 1}],
                 "resources": {"limits": {"memory": "1Gi"}}, "securityContext": {"privileged": false},
                 "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]}],
                      "volumes": [{"name": "tmp"}], "tolerations": [{"key": "k"}], "dnsConfig": {"nameservers": ["x"]},
                      "securityContext": {"runAsUser": 1}},
             "status": {"phase": "Running", "containerStatuses": [{"name": "sandbox", "restartCount": 2}]}}
            """;

    private final KubernetesSerialization lean = LeanSerialization.create();

    @Test
    void whatNobodyLooksAtIsNotRead() {
        Pod pod = lean.unmarshal(POD, Pod.class);

        assertThat(pod.getMetadata().getManagedFields()).isEmpty();
        Container container = pod.getSpec().getContainers().getFirst();
        assertThat(container.getEnv()).isEmpty();
        assertThat(container.getPorts()).isEmpty();
        assertThat(container.getSecurityContext()).isNull();
        assertThat(container.getVolumeMounts()).isEmpty();
        assertThat(container.getAdditionalProperties()).isEmpty();
        assertThat(pod.getSpec().getTolerations()).isEmpty();
        assertThat(pod.getSpec().getDnsConfig()).isNull();
        assertThat(pod.getSpec().getSecurityContext()).isNull();
        assertThat(pod.getSpec().getAdditionalProperties()).isEmpty();
    }

    @Test
    void whatAConfigMapHoldsIsWrittenAndNotRead() {
        String text = lean.asJson(new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo")
                .endMetadata()
                .addToData("a", "text")
                .addToBinaryData("b", "AA==")
                .build());

        ConfigMap read = lean.unmarshal(text, ConfigMap.class);

        assertThat(text).contains("\"a\":\"text\"", "\"b\":\"AA==\"");
        assertThat(read.getMetadata().getName()).isEqualTo("demo");
        assertThat(read.getData()).isEmpty();
        assertThat(read.getBinaryData()).isEmpty();
    }

    @Test
    void everythingElseIs() {
        Pod pod = lean.unmarshal(POD, Pod.class);

        assertThat(pod.getMetadata().getResourceVersion()).isEqualTo("7");
        assertThat(pod.getMetadata().getAdditionalProperties()).containsOnlyKeys("futureField");
        assertThat(pod.getSpec().getNodeName()).isEqualTo("n");
        assertThat(pod.getSpec().getActiveDeadlineSeconds()).isEqualTo(60);
        assertThat(pod.getSpec().getVolumes()).extracting(Volume::getName).containsExactly("tmp");
        assertThat(pod.getSpec().getContainers().getFirst().getResources().getLimits())
                .containsKey("memory");
        assertThat(pod.getStatus().getContainerStatuses().getFirst().getRestartCount())
                .isEqualTo(2);
    }

    @Test
    void whatAPodOwesIsRead() {
        Pod desired = lean.unmarshal(POD, Pod.class);

        Pod read = lean.clone(SandboxContainer.after(desired, "Evicted"));

        assertThat(SandboxContainer.saysLost(read)).contains("Evicted");
        assertThat(SandboxContainer.saysLost(desired)).isEmpty();
        assertThat(SandboxContainer.saysLost(SandboxContainer.after(desired, "x".repeat(63))))
                .isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "two words",
                "Evicted\n",
                "\u001b[2J",
                "\u202eEvicted",
                "Entfernt\u00e9",
                "\ud83d\ude00",
                "$(HOME)"
            })
    void whatIsNoWordIsNotOwed(String annotated) {
        Pod desired = lean.unmarshal(POD, Pod.class);

        assertThat(SandboxContainer.saysLost(SandboxContainer.after(desired, annotated)))
                .isEmpty();
        assertThat(SandboxContainer.saysLost(SandboxContainer.after(desired, "x".repeat(64))))
                .isEmpty();
    }

    /** The empty one is no network, none at all the installation's. */
    @Test
    void aSandboxsEmptyListOfDomainsIsNotLost() {
        Sandbox sandbox = new Sandbox();
        sandbox.setSpec(SandboxSpec.DEFAULT.withAllowedDomains(List.of()));

        assertThat(lean.unmarshal(lean.asJson(sandbox), Sandbox.class).wanted().allowedDomains())
                .isEmpty();
        assertThat(lean.clone(sandbox).wanted().allowedDomains()).isEmpty();
        assertThat(lean.clone(new Sandbox()).wanted().allowedDomains()).isNull();
    }

    @Test
    void aPodIsWrittenWhole() {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("sandbox")
                .addNewEnv()
                .withName("A")
                .endEnv()
                .addNewPort()
                .withContainerPort(1)
                .endPort()
                .withNewSecurityContext()
                .withPrivileged(false)
                .endSecurityContext()
                .addNewVolumeMount()
                .withName("tmp")
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("tmp")
                .endVolume()
                .addNewToleration()
                .withKey("k")
                .endToleration()
                .withNewDnsConfig()
                .withNameservers("x")
                .endDnsConfig()
                .withNewSecurityContext()
                .withRunAsUser(1L)
                .endSecurityContext()
                .endSpec()
                .build();

        assertThat(lean.asJson(pod))
                .contains("\"containers\"", "\"env\"", "\"ports\"", "\"privileged\"", "\"volumeMounts\"")
                .contains("\"volumes\"", "\"tolerations\"", "\"dnsConfig\"", "\"runAsUser\"");
    }
}
