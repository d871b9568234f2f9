package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A pod that was a seat of a pool: how a sandbox claims one, and what is known of it by its claim. */
public final class ClaimedPod {

    /** What of a cold pod's annotations is the seat's only from its claim on. */
    private static final List<String> ANNOTATIONS = List.of(
            SandboxLabels.POD_SPEC_HASH,
            SandboxLabels.OWN_MAX_LIFETIME,
            SandboxLabels.LOST,
            "cluster-autoscaler.kubernetes.io/safe-to-evict",
            "karpenter.sh/do-not-disrupt");

    private static final List<String> LABELS =
            List.of(SandboxLabels.SANDBOX, SandboxLabels.SANDBOX_UID, SandboxLabels.INCARNATION);

    /** Always three digits: a fraction of zero would be left out otherwise. */
    private static final DateTimeFormatter MILLIS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private ClaimedPod() {}

    /** Whether a pod is a seat that no sandbox has claimed. */
    public static boolean isFree(Pod pod) {
        return poolOfFree(pod).isPresent();
    }

    /** The pool of a seat that no sandbox has claimed; empty for every other pod. */
    public static Optional<String> poolOfFree(Pod pod) {
        return label(pod, SandboxLabels.POOL).filter(pool -> isUnclaimed(pod));
    }

    private static boolean isUnclaimed(Pod pod) {
        return label(pod, SandboxLabels.SEAT).isPresent()
                && label(pod, SandboxLabels.SANDBOX).isEmpty()
                && label(pod, SandboxLabels.SANDBOX_UID).isEmpty()
                && pod.getMetadata().getOwnerReferences().stream().allMatch(ClaimedPod::isPool)
                && !pod.getMetadata().getOwnerReferences().isEmpty();
    }

    private static boolean isPool(OwnerReference owner) {
        return HasMetadata.getKind(SandboxPool.class).equals(owner.getKind())
                && HasMetadata.getApiVersion(SandboxPool.class).equals(owner.getApiVersion());
    }

    /** The id of the seat that a sandbox's pod was; empty for a pod that was made for its sandbox. */
    public static Optional<String> seat(Pod pod) {
        // A label alone gives no pod the keys of another one.
        return label(pod, SandboxLabels.SEAT)
                .filter(id -> label(pod, SandboxLabels.SANDBOX_UID).isPresent()
                        && SeatPod.subject(id).name().equals(pod.getMetadata().getName()));
    }

    /** The pool that a claimed pod comes from; empty for a pod that was made for its sandbox. */
    public static Optional<String> pool(Pod pod) {
        return seat(pod).flatMap(id -> label(pod, SandboxLabels.POOL));
    }

    /** When its sandbox claimed the pod; empty for a pod that was made for its sandbox. */
    public static Optional<Instant> claimedAt(Pod pod) {
        return seat(pod)
                .flatMap(id -> Optional.ofNullable(pod.getMetadata().getAnnotations()))
                .map(annotations -> annotations.get(SandboxLabels.CLAIMED_AT))
                .flatMap(ClaimedPod::time);
    }

    private static Optional<Instant> time(String text) {
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** The node counts a pod's age from the moment it took it; until then, its creation stands in. */
    public static Instant startOfPod(Pod pod) {
        String startTime = pod.getStatus() == null ? null : pod.getStatus().getStartTime();
        return Instant.parse(startTime == null ? pod.getMetadata().getCreationTimestamp() : startTime);
    }

    /** How old the pod was when it was claimed, in whole seconds rounded up; zero for a pod that was made for its sandbox. */
    public static Duration ageAtClaim(Pod pod) {
        return claimedAt(pod).map(at -> age(pod, at)).orElse(Duration.ZERO);
    }

    private static Duration age(Pod pod, Instant at) {
        Duration age = Duration.between(startOfPod(pod), at);
        return age.isNegative()
                ? Duration.ZERO
                : Duration.ofSeconds(
                        age.plusNanos(Duration.ofSeconds(1).toNanos() - 1).toSeconds());
    }

    /** Whether a seat's node lets it live for as long as a pod that is made now would: its deadline can only shrink. */
    public static boolean outlives(Pod seat, Pod cold, Instant now) {
        return deadline(seat)
                .filter(present -> present >= lowered(seat, cold, now))
                .isPresent();
    }

    private static Optional<Long> deadline(Pod pod) {
        return Optional.ofNullable(pod.getSpec()).map(PodSpec::getActiveDeadlineSeconds);
    }

    private static long lowered(Pod seat, Pod cold, Instant now) {
        return age(seat, now).toSeconds() + cold.getSpec().getActiveDeadlineSeconds();
    }

    /**
     * The claim as a merge patch, which applies only to the very version of the seat that was looked at.
     *
     * @param cold the pod that would be made for the sandbox instead; its labels, annotations, owner and lifetime become the
     *     seat's
     */
    public static Map<String, Object> claim(Pod seat, Pod cold, Instant now) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("resourceVersion", seat.getMetadata().getResourceVersion());
        metadata.put("labels", chosen(LABELS, cold.getMetadata().getLabels()));
        Map<String, String> annotations = chosen(ANNOTATIONS, cold.getMetadata().getAnnotations());
        annotations.put(SandboxLabels.CLAIMED_AT, MILLIS.format(now.truncatedTo(ChronoUnit.MILLIS)));
        metadata.put("annotations", annotations);
        metadata.put("ownerReferences", cold.getMetadata().getOwnerReferences());
        Map<String, Object> patch = new LinkedHashMap<>();
        patch.put("metadata", metadata);
        patch.put("spec", Map.of("activeDeadlineSeconds", lowered(seat, cold, now)));
        return patch;
    }

    private static Map<String, String> chosen(List<String> names, Map<String, String> from) {
        Map<String, String> chosen = new LinkedHashMap<>();
        for (String name : names) {
            Optional.ofNullable(from.get(name)).ifPresent(value -> chosen.put(name, value));
        }
        return chosen;
    }

    /** Whether a pod belongs to exactly that incarnation of a sandbox. */
    public static boolean isOf(Sandbox sandbox, int incarnation, Pod pod) {
        return ChildMetadata.owns(sandbox, pod)
                && label(pod, SandboxLabels.INCARNATION)
                        .filter(Integer.toString(incarnation)::equals)
                        .isPresent();
    }

    private static Optional<String> label(Pod pod, String name) {
        return Optional.ofNullable(pod.getMetadata().getLabels()).map(labels -> labels.get(name));
    }
}
