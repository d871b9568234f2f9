package dev.sandglass.operator.warmstart;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.SandboxContainer;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Pools and seats as the operator makes them. */
public final class Seats {

    public static final PodSettings SETTINGS = settings(RuntimeClassPolicy.DEFAULT_ONLY);

    /** Six hours as a seat, and then the longest lifetime that there is. */
    private static final Duration LIFETIME = Duration.ofHours(6 + 720);

    private static final Set<String> IDENTITY =
            Set.of("SANDGLASS_SANDBOX_UID", "SANDGLASS_INCARNATION", "SANDGLASS_ENV");

    private Seats() {}

    public static PodSettings settings(RuntimeClassPolicy runtimeClasses) {
        return new PodSettings(
                new ImagePolicy("registry.example.com/kernel:1", List.of("**")),
                Duration.ofHours(8),
                new NamespaceAccount("sandglass-sandbox", List.of()),
                runtimeClasses,
                SandboxUsers.DEFAULT,
                Scheduling.anywhere(RequestRatios.of("0.25")));
    }

    /** Of an installation whose sandboxes may reach public hosts. */
    public static PodSettings withEgress() {
        return new PodSettings(
                SETTINGS.images(),
                SETTINGS.maxLifetime(),
                SETTINGS.account(),
                SETTINGS.runtimeClasses(),
                SETTINGS.users(),
                SETTINGS.scheduling(),
                Optional.of(new Egress(new DeniedRanges(List.of(), List.of()), false, false, DefaultDomains.NONE)),
                Optional.empty());
    }

    public static SandboxPool pool(String namespace, String name, PoolTemplate template) {
        SandboxPool pool = new SandboxPool();
        pool.getMetadata().setNamespace(namespace);
        pool.getMetadata().setName(name);
        pool.getMetadata().setUid("uid-of-" + name);
        pool.setSpec(new SandboxPoolSpec(1, template, null));
        return pool;
    }

    /** What an installation without an egress proxy makes seats with. */
    public static SeatPod.Making making(PodSettings settings, NetworkProbe probe) {
        return new SeatPod.Making(
                settings, Optional.empty(), probe, SeatPod.keys(TestNamespace.LINK_SECRET, Optional.empty()));
    }

    /** A seat that its node has not taken yet. */
    public static Pod seat(SandboxPool pool, String id, PodSettings settings, NetworkProbe probe) {
        PoolTemplate template = pool.wanted().template();
        Sandbox like = Statuses.sandbox(pool.getMetadata().getNamespace(), "like", SandboxStatus.UNSEEN);
        like.setSpec(new SandboxSpec(template.image(), template.memory(), template.cpus(), template.disk(), null, false)
                .withRuntimeClassName(template.runtimeClassName()));
        Pod cold = SandboxPod.desired(like, 1, settings, Optional.empty(), Optional.empty(), probe);
        String name = SeatPod.subject(id).name();
        List<EnvVar> variables = cold.getSpec().getContainers().getFirst().getEnv().stream()
                .filter(variable -> !IDENTITY.contains(variable.getName()))
                .map(variable -> ofSecret(variable, name))
                .toList();
        return cold.edit()
                .withMetadata(metadata(pool, id, SeatPod.hash(pool, making(settings, probe))))
                .editSpec()
                .withActiveDeadlineSeconds(LIFETIME.toSeconds())
                .editFirstContainer()
                .withEnv(variables)
                .addToEnv(
                        variable("SANDGLASS_SANDBOX_UID", id),
                        variable("SANDGLASS_INCARNATION", "0"),
                        variable("SANDGLASS_SEAT", "true"),
                        variable("SANDGLASS_SEAT_LANGUAGES", "python"))
                .endContainer()
                .endSpec()
                .build();
    }

    private static ObjectMeta metadata(SandboxPool pool, String id, String hash) {
        return new ObjectMetaBuilder()
                .withName(SeatPod.subject(id).name())
                .withNamespace(pool.getMetadata().getNamespace())
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .addToLabels(SandboxLabels.POOL, pool.getMetadata().getName())
                .addToLabels(SandboxLabels.SEAT, id)
                .addToAnnotations(SandboxLabels.POOL_TEMPLATE_HASH, hash)
                .addToAnnotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "true")
                .addNewOwnerReference()
                .withApiVersion(pool.getApiVersion())
                .withKind(pool.getKind())
                .withName(pool.getMetadata().getName())
                .withUid(pool.getMetadata().getUid())
                .withController(true)
                .endOwnerReference()
                .build();
    }

    private static EnvVar ofSecret(EnvVar variable, String secret) {
        return variable.getValueFrom() == null || variable.getValueFrom().getSecretKeyRef() == null
                ? variable
                : variable.edit()
                        .editValueFrom()
                        .editSecretKeyRef()
                        .withName(secret)
                        .endSecretKeyRef()
                        .endValueFrom()
                        .build();
    }

    private static EnvVar variable(String name, String value) {
        return new EnvVarBuilder().withName(name).withValue(value).build();
    }

    /** The same pod, made and running since that time. */
    public static Pod running(Pod seat, Instant since) {
        return seat.edit()
                .editMetadata()
                .withCreationTimestamp(since.toString())
                .withUid("uid-of-" + seat.getMetadata().getName())
                .withResourceVersion("7")
                .endMetadata()
                .withNewStatus()
                .withPhase("Running")
                .withPodIP("10.1.2.3")
                .withStartTime(since.toString())
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withReady(true)
                .withRestartCount(0)
                .withNewState()
                .withNewRunning()
                .withStartedAt(since.toString())
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    /** A seat after its claim, as the API server merges it. */
    public static Pod claimed(Pod seat, Pod cold, Instant now) {
        Map<String, Object> merged = map(seat);
        merge(merged, map(ClaimedPod.claim(seat, cold, now)));
        return Serialization.unmarshal(Serialization.asJson(merged), Pod.class);
    }

    @SuppressWarnings("unchecked") // What a mapper makes of an object.
    private static Map<String, Object> map(Object object) {
        return Serialization.unmarshal(Serialization.asJson(object), LinkedHashMap.class);
    }

    @SuppressWarnings("unchecked") // What a mapper makes of an object.
    private static void merge(Map<String, Object> into, Map<String, Object> patch) {
        patch.forEach((key, value) -> {
            if (value instanceof Map && into.get(key) instanceof Map) {
                merge((Map<String, Object>) into.get(key), (Map<String, Object>) value);
            } else {
                into.put(key, value);
            }
        });
    }
}
