package dev.sandglass.operator.child;

import dev.sandglass.api.Durations;
import dev.sandglass.api.PodName;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodIdentity;
import dev.sandglass.operator.pod.PodShape;
import dev.sandglass.operator.pod.PodSize;
import dev.sandglass.operator.pod.PodSubject;
import dev.sandglass.operator.pod.PodVolumes;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A seat: the pod of a pool that no sandbox has claimed yet. It has the shape of a sandbox's pod, and an identity of its own. */
public final class SeatPod {

    /** The oldest that a seat may grow before the operator replaces it. */
    public static final Duration MAX_AGE = Duration.ofHours(6);

    /**
     * Age at which the node ends the pod, claimed or not. A claim can only lower it, so it leaves room for the longest lifetime
     * that a sandbox may ask for.
     */
    public static final Duration LIFETIME = MAX_AGE.plus(Durations.parse(TimeLimit.MAX_LIFETIME.most()));

    private static final int HASH_BYTES = 8;
    private static final String KEYS = "seat-keys-v1";
    private static final String NO_SEAT = "00000000-0000-0000-0000-000000000000";

    private SeatPod() {}

    /**
     * What the seats of an installation are made with at one time, besides their pool.
     *
     * @param proxy IP address of the egress proxy; empty if the installation has none
     * @param probe what every pod tries in vain
     * @param keys see {@link #keys}
     */
    public record Making(PodSettings settings, Optional<String> proxy, NetworkProbe probe, String keys) {}

    /**
     * Digest of the secrets that the keys of all seats derive from; it reveals nothing of them. A seat with keys of a former
     * secret cannot be reached once that one is gone.
     */
    public static String keys(LinkSecret link, Optional<EgressSecret> egress) {
        return HexFormat.of().formatHex(link.keyFor(KEYS))
                + egress.map(EgressSecret::digest).orElse("");
    }

    /** What the name and the keys of a seat derive from, before its claim and after it. */
    public static PodSubject subject(String seatId) {
        return new PodSubject(seatId, 0);
    }

    /** The id of the seat that a pod is, or was before its claim; empty if the pod's name is none of a seat's. */
    public static Optional<String> seatOf(Pod pod) {
        return PodName.parse(pod.getMetadata().getName())
                .filter(name -> name.incarnation() == 0)
                .map(PodName::id);
    }

    /** Whether a pod is an unclaimed seat of that very pool. */
    public static boolean belongsTo(SandboxPool pool, Pod pod) {
        Map<String, String> labels = labels(pod);
        return labels.containsKey(SandboxLabels.SEAT)
                && !labels.containsKey(SandboxLabels.SANDBOX_UID)
                && seatOf(pod).isPresent()
                && pod.getMetadata().getOwnerReferences().stream().anyMatch(owner -> owner.getUid()
                        .equals(pool.getMetadata().getUid()));
    }

    /** Whether a pod is an unclaimed seat that no pool has: Kubernetes lets it go with {@code --cascade=orphan}. */
    public static boolean isOrphan(Pod pod) {
        Map<String, String> labels = labels(pod);
        return labels.containsKey(SandboxLabels.SEAT)
                && !labels.containsKey(SandboxLabels.SANDBOX_UID)
                && seatOf(pod).isPresent()
                && pod.getMetadata().getOwnerReferences().isEmpty();
    }

    /** Label selector of a pool's unclaimed seats. */
    public static String selector(SandboxPool pool) {
        return SandboxLabels.POOL + "=" + pool.getMetadata().getName() + ",!" + SandboxLabels.SANDBOX_UID;
    }

    /** The pod of a seat. */
    public static Pod desired(SandboxPool pool, String seatId, Making making) {
        PodSubject subject = subject(seatId);
        ObjectMeta metadata = new ObjectMetaBuilder()
                .withName(subject.name())
                .withNamespace(pool.getMetadata().getNamespace())
                .withLabels(labels(pool.getMetadata().getName(), seatId))
                .addToAnnotations(SandboxLabels.POOL_TEMPLATE_HASH, hash(pool, making))
                // Nothing is lost with it: a node may be emptied, and the operator makes another.
                .addToAnnotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "true")
                .withOwnerReferences(ChildMetadata.owner(pool))
                .build();
        return pod(pool, metadata, subject, pool.wanted().template(), making);
    }

    /**
     * Name, labels and owner of the Secret of a seat. Its pod owns it, so that it stays when a sandbox claims the pod and goes
     * when the pod does.
     *
     * @param seat as it is in the cluster, claimed or not
     */
    public static ObjectMeta ofSecret(Pod seat) {
        String pool = labels(seat).getOrDefault(SandboxLabels.POOL, "");
        String seatId = seatOf(seat).orElseThrow(() -> new IllegalArgumentException("Not the pod of a seat"));
        return new ObjectMetaBuilder()
                .withName(subject(seatId).name())
                .withNamespace(seat.getMetadata().getNamespace())
                .withLabels(labels(pool, seatId))
                .withOwnerReferences(new OwnerReferenceBuilder()
                        .withApiVersion(HasMetadata.getApiVersion(Pod.class))
                        .withKind(HasMetadata.getKind(Pod.class))
                        .withName(seat.getMetadata().getName())
                        .withUid(seat.getMetadata().getUid())
                        .withController(true)
                        .build())
                .build();
    }

    /**
     * Digest of everything that a seat is made from but its identity: the template, the languages, what the installation says
     * of every pod, and the secrets that its keys derive from. Sizes count by their amount, so that 1Gi and 1024Mi are the same.
     */
    public static String hash(SandboxPool pool, Making making) {
        PoolTemplate wanted = pool.wanted().template();
        PoolTemplate template = new PoolTemplate(
                wanted.image(),
                amount(wanted.memory()),
                amount(wanted.cpus()),
                amount(wanted.disk()),
                wanted.runtimeClassName());
        ObjectMeta nobody = new ObjectMetaBuilder()
                .withName(subject(NO_SEAT).name())
                .withLabels(labels("", NO_SEAT))
                .withOwnerReferences(ChildMetadata.owner(pool))
                .build();
        String text = Serialization.asJson(
                        pod(pool, nobody, subject(NO_SEAT), template, making).getSpec())
                + making.keys();
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /**
     * The hash that a seat was made with; empty if it has none. One that was given a container for debugging since is no more
     * what it was made as: somebody may have left there what the sandbox that claims it would find.
     */
    public static String hashOf(Pod seat) {
        boolean entered = seat.getSpec() != null
                && !seat.getSpec().getEphemeralContainers().isEmpty();
        return Optional.ofNullable(seat.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.POOL_TEMPLATE_HASH))
                .filter(hash -> !entered)
                .orElse("");
    }

    private static Pod pod(
            SandboxPool pool, ObjectMeta metadata, PodSubject subject, PoolTemplate template, Making making) {
        PodShape shape = new PodShape(
                template.image(),
                new PodSize(template.memory(), template.cpus(), template.disk()),
                template.runtimeClassName(),
                new PodVolumes(List.of(), Optional.empty()),
                making.settings(),
                making.proxy(),
                making.probe());
        return shape.of(new PodIdentity(
                metadata,
                subject,
                making.settings().users().ofNew(subject.id()),
                LIFETIME,
                Map.of(),
                Optional.of(pool.wanted().languages())));
    }

    /** In the order in which all that the operator makes has them. */
    private static Map<String, String> labels(String pool, String seatId) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR);
        labels.put(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX);
        labels.put(SandboxLabels.POOL, pool);
        labels.put(SandboxLabels.SEAT, seatId);
        return labels;
    }

    private static Map<String, String> labels(Pod pod) {
        return Optional.ofNullable(pod.getMetadata().getLabels()).orElse(Map.of());
    }

    private static Quantity amount(Quantity quantity) {
        return new Quantity(quantity.getNumericalAmount().stripTrailingZeros().toPlainString());
    }
}
