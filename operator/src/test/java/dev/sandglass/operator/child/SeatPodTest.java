package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.ProxyAccess;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.watch.LeanSerialization;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A seat is the pod of a sandbox that is not there yet: what differs is listed here, and nothing else may. */
class SeatPodTest {

    private static final String SEAT = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";
    private static final String PROXY = "10.96.0.9";

    /** As JSON pointers, an environment variable by its name. */
    private static final Set<String> DIFFERENCES = Set.of(
            "/metadata/name",
            "/metadata/labels/sandglass.dev~1sandbox",
            "/metadata/labels/sandglass.dev~1sandbox-uid",
            "/metadata/labels/sandglass.dev~1incarnation",
            "/metadata/labels/sandglass.dev~1pool",
            "/metadata/labels/sandglass.dev~1seat",
            "/metadata/annotations/sandglass.dev~1pod-spec-hash",
            "/metadata/annotations/sandglass.dev~1pool-template-hash",
            "/metadata/annotations/cluster-autoscaler.kubernetes.io~1safe-to-evict",
            "/metadata/annotations/karpenter.sh~1do-not-disrupt",
            "/metadata/ownerReferences/0/kind",
            "/metadata/ownerReferences/0/name",
            "/metadata/ownerReferences/0/uid",
            "/spec/activeDeadlineSeconds",
            "/spec/containers/0/startupProbe/failureThreshold",
            "/spec/containers/0/startupProbe/initialDelaySeconds",
            "/spec/containers/0/startupProbe/periodSeconds",
            "/spec/containers/0/startupProbe/tcpSocket/port",
            "/spec/securityContext/runAsUser",
            "/spec/containers/0/env/SANDGLASS_SANDBOX_UID/value",
            "/spec/containers/0/env/SANDGLASS_INCARNATION/value",
            "/spec/containers/0/env/SANDGLASS_ENV/name",
            "/spec/containers/0/env/SANDGLASS_ENV/value",
            "/spec/containers/0/env/SANDGLASS_SEAT/name",
            "/spec/containers/0/env/SANDGLASS_SEAT/value",
            "/spec/containers/0/env/SANDGLASS_SEAT_LANGUAGES/name",
            "/spec/containers/0/env/SANDGLASS_SEAT_LANGUAGES/value",
            "/spec/containers/0/env/SANDGLASS_LINK_SECRET_KEY/valueFrom/secretKeyRef/name",
            "/spec/containers/0/env/SANDGLASS_GATEWAY_PUBLIC_KEY/valueFrom/secretKeyRef/name");

    private static final PoolTemplate TEMPLATE = new PoolTemplate(
            "registry.example.com/own:2", new Quantity("1Gi"), new Quantity("2"), new Quantity("3Gi"), "gvisor");

    private static SandboxPool pool(PoolTemplate template, String... languages) {
        SandboxPool pool = new SandboxPool();
        pool.getMetadata().setName("warm");
        pool.getMetadata().setNamespace("tenant-a");
        pool.getMetadata().setUid("c2e6a3d1-7b64-4a1f-8a7e-1dab8cf32e55");
        pool.setSpec(new SandboxPoolSpec(2, template, List.of(languages)));
        return pool;
    }

    private static SeatPod.Making making(boolean hostUsers) {
        return new SeatPod.Making(
                PodShapeTest.settings(hostUsers), Optional.of(PROXY), PodShapeTest.probe(), keys(1, Optional.of(2)));
    }

    /** Of secrets that consist of one byte each. */
    private static String keys(int link, Optional<Integer> egress) {
        return SeatPod.keys(new LinkSecret(secret(link)), egress.map(value -> new EgressSecret(secret(value))));
    }

    private static byte[] secret(int value) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static Pod seat(boolean hostUsers) {
        return SeatPod.desired(pool(TEMPLATE, "python", "javascript"), SEAT, making(hostUsers));
    }

    private static Pod cold(boolean hostUsers) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(
                new SandboxSpec(TEMPLATE.image(), TEMPLATE.memory(), TEMPLATE.cpus(), TEMPLATE.disk(), null, false)
                        .withRuntimeClassName(TEMPLATE.runtimeClassName()));
        return SandboxPod.desired(
                sandbox,
                1,
                PodShapeTest.settings(hostUsers),
                Optional.empty(),
                Optional.of(new ProxyAccess(PROXY, "http://unused")),
                PodShapeTest.probe());
    }

    private static Set<String> expected() {
        Set<String> fields = new TreeSet<>(DIFFERENCES);
        PodShapeTest.PROXY_VARIABLES.forEach(
                name -> fields.add("/spec/containers/0/env/" + name + "/valueFrom/secretKeyRef/name"));
        return fields;
    }

    @Test
    void aSeatIsAColdPodInEverythingElse() {
        assertThat(PodShapeTest.differences(cold(true), seat(true))).isEqualTo(expected());
    }

    @Test
    void inAUserNamespaceItHasTheSameUidToo() {
        Set<String> fields = expected();
        fields.remove("/spec/securityContext/runAsUser");
        assertThat(PodShapeTest.differences(cold(false), seat(false))).isEqualTo(fields);
    }

    @Test
    void aSeatIsThePoolsAndNoSandboxs() {
        ObjectMeta metadata = seat(true).getMetadata();
        assertThat(metadata.getName()).isEqualTo("sbx-" + SEAT + "-0");
        assertThat(metadata.getLabels())
                .isEqualTo(Map.of(
                        "app.kubernetes.io/component", "sandbox",
                        "app.kubernetes.io/managed-by", "sandglass-operator",
                        "sandglass.dev/pool", "warm",
                        "sandglass.dev/seat", SEAT));
        assertThat(metadata.getAnnotations())
                .containsOnlyKeys(SandboxLabels.POOL_TEMPLATE_HASH, "cluster-autoscaler.kubernetes.io/safe-to-evict")
                .containsEntry("cluster-autoscaler.kubernetes.io/safe-to-evict", "true");
        assertThat(metadata.getOwnerReferences()).singleElement().satisfies(owner -> {
            assertThat(owner.getApiVersion()).isEqualTo("sandglass.dev/v1alpha1");
            assertThat(owner.getKind()).isEqualTo("SandboxPool");
            assertThat(owner.getName()).isEqualTo("warm");
            assertThat(owner.getController()).isTrue();
        });
    }

    @Test
    void aSeatKnowsWhatItIsAndNoVariablesOfCode() {
        assertThat(seat(true).getSpec().getContainers().getFirst().getEnv())
                .filteredOn(variable -> variable.getName().startsWith("SANDGLASS_") && variable.getValue() != null)
                .extracting(EnvVar::getName, EnvVar::getValue)
                .contains(
                        tuple("SANDGLASS_SANDBOX_UID", SEAT),
                        tuple("SANDGLASS_INCARNATION", "0"),
                        tuple("SANDGLASS_SEAT", "true"),
                        tuple("SANDGLASS_SEAT_LANGUAGES", "python,javascript"));
        Pod none = SeatPod.desired(pool(TEMPLATE), SEAT, making(true));
        assertThat(none.getSpec().getContainers().getFirst().getEnv())
                .filteredOn(variable -> variable.getName().equals("SANDGLASS_SEAT_LANGUAGES"))
                .extracting(EnvVar::getValue)
                .containsExactly("");
    }

    /** A claim can only lower it, and a dead operator's seats must end. */
    @Test
    void aSeatLivesAsLongAsASeatMayWaitAndASandboxMayLast() {
        assertThat(SeatPod.LIFETIME).isEqualTo(Duration.ofHours(6 + 720));
        assertThat(seat(true).getSpec().getActiveDeadlineSeconds())
                .isEqualTo(Duration.ofHours(726).toSeconds());
    }

    @Test
    void theSecretBelongsToThePod() {
        Pod seat = seat(true).toBuilder()
                .editMetadata()
                .withUid("d3f7b4e2-8c75-4b20-9b8f-2ebc9d043f66")
                .endMetadata()
                .build();
        ObjectMeta secret = SeatPod.ofSecret(seat);
        assertThat(secret.getName()).isEqualTo(seat.getMetadata().getName());
        assertThat(secret.getLabels()).isEqualTo(seat.getMetadata().getLabels());
        OwnerReference owner = secret.getOwnerReferences().getFirst();
        assertThat(owner.getApiVersion()).isEqualTo("v1");
        assertThat(owner.getKind()).isEqualTo("Pod");
        assertThat(owner.getName()).isEqualTo(seat.getMetadata().getName());
        assertThat(owner.getUid()).isEqualTo("d3f7b4e2-8c75-4b20-9b8f-2ebc9d043f66");
        assertThat(owner.getController()).isTrue();
        assertThatThrownBy(() -> SeatPod.ofSecret(cold(true))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void onlyAnUnclaimedSeatOfThatPoolBelongsToIt() {
        SandboxPool pool = pool(TEMPLATE);
        SandboxPool namesake = pool(TEMPLATE);
        namesake.getMetadata().setUid("e4a8c5f3-9d86-4c31-8ca0-3fcdae154a77");
        Pod seat = SeatPod.desired(pool, SEAT, making(true));
        Pod claimed = seat.toBuilder()
                .editMetadata()
                .addToLabels(SandboxLabels.SANDBOX_UID, "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80")
                .endMetadata()
                .build();
        assertThat(SeatPod.belongsTo(pool, seat)).isTrue();
        assertThat(SeatPod.belongsTo(namesake, seat)).isFalse();
        assertThat(SeatPod.belongsTo(pool, claimed)).isFalse();
        assertThat(SeatPod.belongsTo(pool, cold(true))).isFalse();
        assertThat(SeatPod.seatOf(seat)).hasValue(SEAT);
        assertThat(SeatPod.seatOf(cold(true))).isEmpty();
    }

    /** Of what a pod was made with, the operator's caches drop most: only the hash tells it. */
    @Test
    void whatTheCachesKeepOfASeatTellsWhoseItIsAndWhatItWasMadeFrom() {
        SandboxPool pool = pool(TEMPLATE, "python");
        Pod seat = SeatPod.desired(pool, SEAT, making(true));

        Pod cached = LeanSerialization.create().unmarshal(Serialization.asJson(seat), Pod.class);

        assertThat(cached.getSpec().getContainers().getFirst().getEnv()).isEmpty();
        assertThat(cached.getSpec().getDnsConfig()).isNull();
        assertThat(SeatPod.hashOf(cached)).isEqualTo(SeatPod.hash(pool, making(true)));
        assertThat(SeatPod.belongsTo(pool, cached)).isTrue();
        assertThat(SeatPod.seatOf(cached)).hasValue(SEAT);
    }

    /** {@code kubectl debug}: what runs there beside the seat, or what it leaves, is no matter of a sandbox that comes later. */
    @Test
    void aSeatThatWasGivenAContainerForDebuggingIsNoMoreWhatItWasMadeAs() {
        Pod entered = seat(true)
                .edit()
                .editSpec()
                .addNewEphemeralContainer()
                .withName("debugger")
                .endEphemeralContainer()
                .endSpec()
                .build();
        Pod cached = LeanSerialization.create().unmarshal(Serialization.asJson(entered), Pod.class);

        assertThat(SeatPod.hashOf(cached)).isEmpty();
        assertThat(SeatPod.hashOf(seat(true))).isNotEmpty();
    }

    private static String hash(PoolTemplate template, String... languages) {
        return SeatPod.hash(pool(template, languages), making(true));
    }

    private static PoolTemplate sized(String memory) {
        return new PoolTemplate(
                TEMPLATE.image(), new Quantity(memory), TEMPLATE.cpus(), TEMPLATE.disk(), TEMPLATE.runtimeClassName());
    }

    @Test
    void theHashIsOfWhatASeatIsMadeFromAndNotOfWhoItIs() {
        String hash = hash(TEMPLATE, "python");
        assertThat(hash).hasSize(16);
        assertThat(SeatPod.hashOf(SeatPod.desired(pool(TEMPLATE, "python"), SEAT, making(true))))
                .isEqualTo(hash);
        SandboxPool more = pool(TEMPLATE, "python");
        more.setSpec(new SandboxPoolSpec(9, TEMPLATE, List.of("python")));
        assertThat(SeatPod.hash(more, making(true))).isEqualTo(hash);
        assertThat(hash(sized("1024Mi"), "python")).as("the same amount").isEqualTo(hash);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memory",
                "image",
                "runtimeClassName",
                "languages",
                "proxy",
                "probe",
                "settings",
                "link",
                "egress"
            })
    void theHashChangesWith(String what) {
        PodSettings settings = PodShapeTest.settings(!what.equals("settings"));
        Optional<String> proxy = Optional.of(PROXY).filter(address -> !what.equals("proxy"));
        NetworkProbe probe = what.equals("probe") ? NetworkProbe.NONE : PodShapeTest.probe();
        PoolTemplate template =
                switch (what) {
                    case "memory" -> sized("2Gi");
                    case "image" ->
                        new PoolTemplate(
                                null, TEMPLATE.memory(), TEMPLATE.cpus(), TEMPLATE.disk(), TEMPLATE.runtimeClassName());
                    case "runtimeClassName" ->
                        new PoolTemplate(TEMPLATE.image(), TEMPLATE.memory(), TEMPLATE.cpus(), TEMPLATE.disk(), null);
                    default -> TEMPLATE;
                };
        SandboxPool pool = what.equals("languages") ? pool(template) : pool(template, "python");
        String keys = keys(what.equals("link") ? 3 : 1, Optional.of(what.equals("egress") ? 3 : 2));
        assertThat(SeatPod.hash(pool, new SeatPod.Making(settings, proxy, probe, keys)))
                .isNotEqualTo(hash(TEMPLATE, "python"));
    }

    /** It stands, with other things in one more digest, where everybody reads it who may read pods. */
    @Test
    void theDigestOfTheSecretsIsNoneOfWhatDerivesFromThem() {
        EgressSecret egress = new EgressSecret(secret(2));
        String keys = keys(1, Optional.of(2));
        assertThat(keys)
                .isEqualTo(keys(1, Optional.of(2)))
                .doesNotContain(egress.denialsToken())
                .doesNotContain(egress.passwordOf(SEAT))
                .doesNotContain(egress.passwordOf(""))
                .isNotEqualTo(keys(1, Optional.empty()));
        assertThat(keys(1, Optional.empty()))
                .isEqualTo(HexFormat.of().formatHex(new LinkSecret(secret(1)).keyFor("seat-keys-v1")));
    }
}
