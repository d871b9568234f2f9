package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.toolserver.Servers;
import dev.sandglass.operator.warmstart.Seats;
import dev.sandglass.operator.watch.LeanSerialization;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which seat a sandbox claims, and why it claims none. */
class ClaimTest {

    private static final Instant NOW = Instant.parse("2026-11-28T10:00:00.250Z");
    private static final Instant MADE = Instant.parse("2026-11-28T09:00:00Z");
    private static final NetworkProbe PROBE =
            new NetworkProbe(List.of(new ClosedAddress("10.96.0.1", 443, Set.of(6443))), true);
    private static final SandboxPool DEFAULT = pool("default", PoolTemplate.DEFAULT, MADE);

    private final List<SandboxPool> pools = new ArrayList<>();
    private final List<Pod> pods = new ArrayList<>();
    private PodSettings settings = Seats.SETTINGS;
    private NetworkProbe probe = PROBE;

    private static SandboxPool pool(String name, PoolTemplate template, Instant created) {
        SandboxPool pool = Seats.pool("tenant-a", name, template);
        pool.getMetadata().setCreationTimestamp(created.toString());
        return pool;
    }

    private static Pod seat(SandboxPool pool, String id, Instant made) {
        return Seats.running(Seats.seat(pool, id, Seats.SETTINGS, PROBE), made);
    }

    private static Sandbox sandbox(SandboxSpec spec) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);
        sandbox.setSpec(spec);
        return sandbox;
    }

    private Claim claim(SandboxSpec spec) {
        return claim(sandbox(spec));
    }

    private Claim claim(Sandbox sandbox) {
        Pod cold = SandboxPod.desired(sandbox, 1, settings, Optional.empty(), Optional.empty(), probe);
        var making = Seats.making(settings, probe);
        return Claim.of(
                sandbox,
                cold,
                KnownPool.of(pools, making),
                name -> pods.stream()
                        .filter(pod -> name.equals(pod.getMetadata().getLabels().get(SandboxLabels.POOL)))
                        .toList(),
                making,
                NOW);
    }

    private static String text(Claim claim) {
        return switch (claim) {
            case Claim.NoPool none -> "no pool";
            case Claim.Cold cold -> cold.text();
            case Claim.Warm warm ->
                warm.seats().stream()
                        .map(seat -> seat.pod().getMetadata().getLabels().get(SandboxLabels.SEAT))
                        .toList()
                        .toString();
        };
    }

    @Test
    void withoutAPoolNothingIsSaid() {
        pods.add(seat(DEFAULT, "a", MADE));
        assertThat(claim(SandboxSpec.DEFAULT)).isEqualTo(new Claim.NoPool());
    }

    /** A tenant makes as many pools as it likes; a start must not cost the operator a digest of each. */
    @Test
    void ofManyPoolsTheOldestGiveSeats() {
        PoolTemplate other = new PoolTemplate(
                null, new Quantity("1Gi"), PoolTemplate.DEFAULT.cpus(), PoolTemplate.DEFAULT.disk(), null);
        for (int older = 1; older < KnownPool.MOST; older++) {
            pools.add(0, pool("older-" + older, other, MADE.minusSeconds(older)));
        }
        pools.add(0, DEFAULT);
        pods.add(seat(DEFAULT, "a", MADE));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("[a]");

        pools.add(0, pool("oldest", other, MADE.minusSeconds(KnownPool.MOST)));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("NoMatch: memory");
    }

    static Stream<Arguments> specs() {
        SandboxSpec plain = SandboxSpec.DEFAULT;
        return Stream.of(
                Arguments.of("[a]", plain),
                Arguments.of("[a]", of(null, "0.5Gi", "1000m", "2048Mi")),
                Arguments.of("[a]", of("registry.example.com/kernel:1", "512Mi", "1", "2Gi")),
                Arguments.of("[a]", of("microsandbox/python", "512Mi", "1", "2Gi")),
                Arguments.of("[a]", plain.withAllowedDomains(List.of("example.com"))),
                Arguments.of("[a]", plain.withMaxLifetime("720h").withIdleTimeout("5m")),
                Arguments.of("NoMatch: image", of("registry.example.com/other:1", "512Mi", "1", "2Gi")),
                Arguments.of("NoMatch: memory", of(null, "513Mi", "1", "2Gi")),
                Arguments.of("NoMatch: cpus", of(null, "512Mi", "1001m", "2Gi")),
                Arguments.of("NoMatch: disk", of(null, "512Mi", "1", "1Gi")),
                Arguments.of("NoMatch: runtimeClassName", plain.withRuntimeClassName("gvisor")),
                Arguments.of("Workspace", plain.withWorkspace(new Workspace(new Quantity("1Gi"), null, false))));
    }

    private static SandboxSpec of(@Nullable String image, String memory, String cpus, String disk) {
        return new SandboxSpec(image, new Quantity(memory), new Quantity(cpus), new Quantity(disk), null, false);
    }

    @ParameterizedTest
    @MethodSource("specs")
    void aSpecClaimsWhatIsLikeIt(String expected, SandboxSpec spec) {
        pools.add(DEFAULT);
        pods.add(seat(DEFAULT, "a", MADE));
        assertThat(text(claim(spec))).isEqualTo(expected);
    }

    @Test
    void theServerOfAToolServerStartsCold() {
        pools.add(DEFAULT);
        pods.add(seat(DEFAULT, "a", MADE));
        Sandbox child = ToolServerChild.desired(Servers.stdio());
        child.getMetadata().setUid("uid-of-child");
        assertThat(text(claim(child))).isEqualTo("ToolServer");
    }

    @Test
    void theInstallationsRuntimeClassIsThatOfBoth() {
        settings = Seats.settings(new RuntimeClassPolicy(Optional.of("gvisor"), List.of()));
        pools.add(DEFAULT);
        pods.add(Seats.running(Seats.seat(DEFAULT, "a", settings, PROBE), MADE));
        assertThat(text(claim(SandboxSpec.DEFAULT.withRuntimeClassName("gvisor"))))
                .isEqualTo("[a]");
        pods.set(0, seat(DEFAULT, "before", MADE));
        assertThat(text(claim(SandboxSpec.DEFAULT)))
                .as("a seat from before the installation had one")
                .isEqualTo("NoSeat");
    }

    @Test
    void theOlderPoolAndItsOldestSeatComeFirst() {
        SandboxPool older = pool("older", PoolTemplate.DEFAULT, MADE.minusSeconds(1));
        pools.add(DEFAULT);
        pools.add(older);
        pods.add(seat(DEFAULT, "first", MADE.minusSeconds(60)));
        pods.add(seat(older, "young", MADE.plusSeconds(60)));
        pods.add(seat(older, "old", MADE.plusSeconds(1)));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("[old, young, first]");
    }

    /** It waits for them no longer than in a pod of its own. */
    @Test
    void aSeatWhoseKernelsStillStartComesLast() {
        pools.add(DEFAULT);
        pods.add(unready(seat(DEFAULT, "starting", MADE.minusSeconds(1))));
        pods.add(seat(DEFAULT, "up", MADE));
        pools.add(pool("younger", PoolTemplate.DEFAULT, MADE.plusSeconds(1)));
        pods.add(seat(pools.getLast(), "other", MADE));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("[up, other, starting]");
    }

    private static Pod unready(Pod seat) {
        return seat.edit()
                .editStatus()
                .editFirstContainerStatus()
                .withReady(false)
                .endContainerStatus()
                .endStatus()
                .build();
    }

    @Test
    void aPoolThatIsDeletedGivesNoSeats() {
        SandboxPool leaving = pool("leaving", PoolTemplate.DEFAULT, MADE);
        leaving.getMetadata().setDeletionTimestamp(NOW.toString());
        pools.add(leaving);
        pods.add(seat(leaving, "a", MADE));
        assertThat(claim(SandboxSpec.DEFAULT)).isEqualTo(new Claim.NoPool());
    }

    @Test
    void theFieldIsThatOfThePoolThatComesClosest() {
        pools.add(pool("far", new PoolTemplate("example.com/x:1", null, null, null, null), MADE.minusSeconds(9)));
        pools.add(pool("close", new PoolTemplate(null, null, null, new Quantity("3Gi"), null), MADE));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("NoMatch: disk");
    }

    static Stream<Arguments> notReady() {
        return Stream.of(
                row("starting", pod -> pod.edit().withNewStatus().endStatus().build()),
                row("being deleted", pod -> pod.edit()
                        .editMetadata()
                        .withDeletionTimestamp(NOW.toString())
                        .endMetadata()
                        .build()),
                row("failed", pod -> pod.edit()
                        .editStatus()
                        .withPhase("Failed")
                        .endStatus()
                        .build()),
                row("on a silent node", pod -> pod.edit()
                        .editStatus()
                        .addNewCondition()
                        .withType("Ready")
                        .withStatus("False")
                        .endCondition()
                        .endStatus()
                        .build()));
    }

    static Stream<Arguments> notUnclaimed() {
        return Stream.of(
                row("claimed", pod -> pod.edit()
                        .editMetadata()
                        .addToLabels(SandboxLabels.SANDBOX_UID, "uid-of-another")
                        .endMetadata()
                        .build()),
                row("owned by another kind", pod -> pod.edit()
                        .editMetadata()
                        .editFirstOwnerReference()
                        .withKind("Sandbox")
                        .endOwnerReference()
                        .endMetadata()
                        .build()),
                row("without an owner", pod -> pod.edit()
                        .editMetadata()
                        .withOwnerReferences()
                        .endMetadata()
                        .build()),
                row("without an id", pod -> pod.edit()
                        .editMetadata()
                        .removeFromLabels(SandboxLabels.SEAT)
                        .endMetadata()
                        .build()));
    }

    static Stream<Arguments> outdated() {
        return Stream.of(
                row("of another template, or another setting", pod -> noted(pod, "0123456789abcdef")),
                row("of which nobody knows what it was made from", pod -> pod.edit()
                        .editMetadata()
                        .removeFromAnnotations(SandboxLabels.POOL_TEMPLATE_HASH)
                        .endMetadata()
                        .build()),
                row("that somebody debugs", pod -> pod.edit()
                        .editSpec()
                        .addNewEphemeralContainer()
                        .withName("debugger")
                        .endEphemeralContainer()
                        .endSpec()
                        .build()));
    }

    private static Pod noted(Pod pod, String hash) {
        return pod.edit()
                .editMetadata()
                .addToAnnotations(SandboxLabels.POOL_TEMPLATE_HASH, hash)
                .endMetadata()
                .build();
    }

    /** As they are read: the caches keep neither variables nor resolvers. */
    @Test
    void aSeatIsKnownByWhatTheCachesKeepOfIt() {
        pools.add(DEFAULT);
        Pod read = LeanSerialization.create().unmarshal(Serialization.asJson(seat(DEFAULT, "a", MADE)), Pod.class);
        assertThat(read.getSpec().getContainers().getFirst().getEnv()).isEmpty();
        pods.add(read);
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("[a]");
    }

    @Test
    void aSeatFromBeforeTheInstallationWasEditedIsNone() {
        pools.add(DEFAULT);
        pods.add(seat(DEFAULT, "a", MADE));
        probe = NetworkProbe.NONE;
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("NoSeat");
    }

    private static Arguments row(String name, UnaryOperator<Pod> change) {
        return Arguments.of(name, change);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"notReady", "notUnclaimed", "outdated"})
    void aSeatThatIsNotReadyOrNotUpToDateIsNone(String name, UnaryOperator<Pod> change) {
        pools.add(DEFAULT);
        pods.add(change.apply(seat(DEFAULT, "a", MADE)));
        assertThat(text(claim(SandboxSpec.DEFAULT))).as(name).isEqualTo("NoSeat");
        pods.add(seat(DEFAULT, "b", MADE.plusSeconds(1)));
        assertThat(text(claim(SandboxSpec.DEFAULT))).as(name).isEqualTo("[b]");
    }

    @Test
    void whatAWebhookAddedToASeatDoesNotMatter() {
        pools.add(DEFAULT);
        pods.add(seat(DEFAULT, "a", MADE)
                .edit()
                .editSpec()
                .editFirstContainer()
                .addNewEnv()
                .withName("AWS_REGION")
                .withValue("eu-central-1")
                .endEnv()
                .endContainer()
                .addNewContainer()
                .withName("sidecar")
                .endContainer()
                .endSpec()
                .build());
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("[a]");
    }

    @Test
    void aSandboxWhoseListMayOpenWhatSeatsTryGetsAPodOfItsOwn() {
        settings = Seats.withEgress();
        pools.add(DEFAULT);
        pods.add(Seats.running(Seats.seat(DEFAULT, "a", settings, PROBE), MADE));
        assertThat(text(claim(SandboxSpec.DEFAULT.withAllowedDomains(List.of("8.8.8.8:6443")))))
                .isEqualTo("Network");
        assertThat(text(claim(SandboxSpec.DEFAULT.withAllowedDomains(List.of("8.8.8.8:9999")))))
                .isEqualTo("[a]");
    }

    /** Kubernetes lets a deadline shrink only. */
    @Test
    void aSeatThatItsNodeWouldEndTooEarlyIsNone() {
        pools.add(DEFAULT);
        // 3,600.25 s old, which count as 3,601.
        long needed = 3601 + Duration.ofHours(8).toSeconds();
        Pod seat = seat(DEFAULT, "a", MADE);
        pods.add(withDeadline(seat, needed));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("[a]");
        pods.set(0, withDeadline(seat, needed - 1));
        assertThat(text(claim(SandboxSpec.DEFAULT))).isEqualTo("NoSeat");
    }

    private static Pod withDeadline(Pod pod, long seconds) {
        return pod.edit()
                .editSpec()
                .withActiveDeadlineSeconds(seconds)
                .endSpec()
                .build();
    }
}
