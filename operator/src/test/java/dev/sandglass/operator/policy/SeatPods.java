package dev.sandglass.operator.policy;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Seats as the operator makes and claims them, and single changes of a pod. */
final class SeatPods {

    static final String SEAT = "0b7e8f1a-1111-4222-8333-444455556666";
    static final String NAME = "sbx-" + SEAT + "-0";

    /** Until its claim, in seconds. */
    static final long DEADLINE = 50_400;

    private static final Path POD = Path.of("src/test/resources/golden/first-start/out-Pod.yaml");

    private SeatPods() {}

    /** As the operator makes one for that pool, but for a scheduler that is not there. */
    static Pod seat(SandboxPool pool) {
        try {
            return new PodBuilder(Serialization.unmarshal(Files.readString(POD), Pod.class))
                    .editMetadata()
                    .withName(NAME)
                    .withNamespace(pool.getMetadata().getNamespace())
                    .withLabels(new HashMap<>(Map.of(
                            SandboxLabels.MANAGED_BY,
                            SandboxLabels.OPERATOR,
                            SandboxLabels.COMPONENT,
                            SandboxLabels.COMPONENT_SANDBOX,
                            SandboxLabels.POOL,
                            pool.getMetadata().getName(),
                            SandboxLabels.SEAT,
                            SEAT)))
                    .withAnnotations(new HashMap<>(Map.of(SandboxLabels.POOL_TEMPLATE_HASH, "0123456789abcdef")))
                    .withOwnerReferences(owner(pool))
                    .endMetadata()
                    .editSpec()
                    .withSchedulerName("none")
                    .withActiveDeadlineSeconds(DEADLINE)
                    .endSpec()
                    .build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static OwnerReference owner(HasMetadata owner) {
        return new OwnerReferenceBuilder()
                .withApiVersion(owner.getApiVersion())
                .withKind(owner.getKind())
                .withName(owner.getMetadata().getName())
                .withUid(owner.getMetadata().getUid())
                .withController(true)
                .build();
    }

    static Consumer<Pod> labelled(String key, String value) {
        return pod -> pod.getMetadata().getLabels().put(key, value);
    }

    static Consumer<Pod> unlabelled(String key) {
        return pod -> pod.getMetadata().getLabels().remove(key);
    }

    static Consumer<Pod> noted(String key, String value) {
        return pod -> pod.getMetadata().getAnnotations().put(key, value);
    }

    static Consumer<Pod> owned(OwnerReference... owners) {
        return pod -> pod.getMetadata().setOwnerReferences(List.of(owners));
    }

    static Consumer<Pod> deadline(long seconds) {
        return pod -> pod.getSpec().setActiveDeadlineSeconds(seconds);
    }

    /** As the operator claims a seat. */
    static Consumer<Pod> claim(HasMetadata claimant) {
        return pod -> {
            Map<String, String> labels = pod.getMetadata().getLabels();
            labels.put(SandboxLabels.SANDBOX, claimant.getMetadata().getName());
            labels.put(SandboxLabels.SANDBOX_UID, claimant.getMetadata().getUid());
            labels.put(SandboxLabels.INCARNATION, "1");
            Map<String, String> annotations = pod.getMetadata().getAnnotations();
            annotations.put(SandboxLabels.CLAIMED_AT, "2026-03-01T10:00:00.123Z");
            annotations.put(SandboxLabels.POD_SPEC_HASH, "440626df41cfe51d");
            annotations.put("cluster-autoscaler.kubernetes.io/safe-to-evict", "false");
            annotations.put("karpenter.sh/do-not-disrupt", "true");
            owned(owner(claimant)).accept(pod);
            deadline(30_000).accept(pod);
        };
    }

    static void tolerate(Pod pod) {
        pod.getSpec().getTolerations().add(new Toleration("NoSchedule", "mine", "Exists", null, null));
    }
}
