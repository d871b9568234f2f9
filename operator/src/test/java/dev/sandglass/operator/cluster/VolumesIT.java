package dev.sandglass.operator.cluster;

import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Volumes and workspaces with the operator's own rights only, on a cluster whose default class makes volumes. */
class VolumesIT {

    private static final Duration SOON = Duration.ofMinutes(2);

    private TestNamespace namespace;
    private TestNamespace.Running operator;

    @BeforeEach
    void start() {
        namespace = new TestNamespace();
        operator = namespace.operator(Map.of());
    }

    @AfterEach
    void stop() {
        operator.close();
        namespace.close();
    }

    private Sandbox awaitReady(String name) {
        return namespace.await(name, SOON, sandbox -> sandbox.observed().holds(READY));
    }

    private String awaitMissing(String name) {
        Sandbox sandbox = namespace.await(
                name, SOON, seen -> seen.observed().reason(READY).equals(Optional.of(Reason.VOLUME_MISSING)));
        assertThat(namespace.pods()).isEmpty();
        return sandbox.observed().condition(READY).orElseThrow().getMessage();
    }

    private @Nullable PersistentVolumeClaim claim(String sandbox) {
        return namespace
                .admin
                .persistentVolumeClaims()
                .inNamespace(namespace.name)
                .withName("workspace-" + sandbox)
                .get();
    }

    private static SandboxSpec volume(Volume volume) {
        return SandboxSpec.DEFAULT.withVolumes(List.of(volume));
    }

    private static SandboxSpec workspace(String size, boolean keep) {
        return SandboxSpec.DEFAULT.withWorkspace(new Workspace(new Quantity(size), null, keep));
    }

    @Test
    void aConfigMapIsWaitedForUntilItIsThereAndOpen() {
        namespace.create(
                "config", volume(new Volume("w", "/w", null, null, new Volume.ConfigMap("words"), null, null)));
        assertThat(awaitMissing("config")).contains("there is no ConfigMap words");

        namespace
                .admin
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("words")
                        .withNamespace(namespace.name)
                        .addToLabels(SandboxLabels.MOUNTABLE, "true")
                        .endMetadata()
                        .build())
                .create();

        assertThat(awaitReady("config").observed().incarnation()).isEqualTo(1);
    }

    @Test
    void aSecretIsMissedWithoutBeingReadOrMade() {
        namespace.create(
                "secret", volume(new Volume("k", "/k", null, null, null, new Volume.Secret("mountable-key"), null)));
        assertThat(awaitMissing("secret")).contains("there is no Secret mountable-key");
        assertThat(namespace
                        .admin
                        .secrets()
                        .inNamespace(namespace.name)
                        .withName("mountable-key")
                        .get())
                .isNull();

        namespace
                .admin
                .resource(new SecretBuilder()
                        .withNewMetadata()
                        .withName("mountable-key")
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .build())
                .create();

        awaitReady("secret");
        assertThat(operator.requests("GET", "secrets")).isZero();
    }

    @Test
    void aMissingClaimIsNamed() {
        namespace.create("claim", volume(Volume.ofClaim("d", "/d", true, "no-such")));
        assertThat(awaitMissing("claim")).contains("there is no PersistentVolumeClaim no-such");
    }

    @Test
    void aWorkspaceCostsOneWriteMoreAndOutlivesThePod() {
        namespace.create("disk", workspace("64Mi", false));
        Sandbox first = awaitReady("disk");
        await().until(() -> operator.requests("PUT", "sandboxes/status") >= 1);
        assertThat(operator.writes())
                .as("four, five if it is slow, and the namespace's two policies")
                .isLessThanOrEqualTo(7);
        String uid = uidOf("disk");
        long user = user();

        namespace.edit("disk", workspace("64Mi", false).withSuspended(true));
        namespace.await("disk", SOON, sandbox -> sandbox.observed().holds(SUSPENDED));
        await().atMost(SOON).until(() -> namespace.pods().isEmpty());
        namespace.edit("disk", workspace("64Mi", false));
        Sandbox second = awaitReady("disk");

        assertThat(second.observed().incarnation()).isEqualTo(2);
        assertThat(user()).isEqualTo(user).isGreaterThanOrEqualTo(1_879_048_192L);
        assertThat(uidOf("disk")).isEqualTo(uid);
        namespace.admin.resource(first).delete();
        await("the claim goes with its sandbox").atMost(SOON).until(() -> claim("disk") == null);
    }

    @Test
    void aSandboxWhoseFilesAreThereIsNotGivenUpWhateverItsSpecSaysByNow() {
        namespace.create("left", workspace("64Mi", false));
        awaitReady("left");
        namespace.edit("left", workspace("64Mi", false).withSuspended(true));
        namespace.await("left", SOON, sandbox -> sandbox.observed().holds(SUSPENDED));

        namespace.edit("left", SandboxSpec.DEFAULT.withSuspended(true).withRetention("10s"));

        Sandbox told = namespace.await("left", SOON, sandbox -> Long.valueOf(3)
                .equals(sandbox.observed().observedGeneration()));
        assertThat(told.observed().holds(SUSPENDED)).isTrue();
        assertThat(told.observed().expiresAt()).as("when it is given up").isNull();
    }

    /** As whom the only pod runs. */
    private long user() {
        return namespace.pods().getFirst().getSpec().getSecurityContext().getRunAsUser();
    }

    private String uidOf(String sandbox) {
        return Optional.ofNullable(claim(sandbox)).orElseThrow().getMetadata().getUid();
    }

    @Test
    void whatIsKeptIsTakenByTheNextSandboxOfThatName() {
        namespace.create("kept", workspace("64Mi", false));
        Sandbox first = awaitReady("kept");
        String uid = uidOf("kept");
        long user = user();
        namespace.edit("kept", workspace("64Mi", true));
        await("the claim is let go").atMost(SOON).until(() -> Optional.ofNullable(claim("kept")).stream()
                .allMatch(claim -> claim.getMetadata().getOwnerReferences().isEmpty()));

        namespace.admin.resource(first).delete();
        await().atMost(SOON).until(() -> namespace.pods().isEmpty());
        namespace.create("kept", workspace("64Mi", false));
        awaitReady("kept");

        assertThat(uidOf("kept")).isEqualTo(uid);
        assertThat(user()).as("the owner of the files").isEqualTo(user);
        assertThat(Optional.ofNullable(claim("kept"))
                        .orElseThrow()
                        .getMetadata()
                        .getOwnerReferences())
                .isEmpty();
    }

    @Test
    void aClaimThatMayNotGrowIsToldAndNotAskedAgain() {
        namespace.create("grow", workspace("64Mi", false));
        awaitReady("grow");

        namespace.edit("grow", workspace("128Mi", false));
        Sandbox told = namespace.await("grow", SOON, sandbox -> Long.valueOf(2)
                .equals(sandbox.observed().observedGeneration()));

        Quantity size = Optional.ofNullable(claim("grow"))
                .map(claim -> claim.getSpec().getResources().getRequests().get("storage"))
                .orElseThrow();
        String message = told.observed().condition(READY).orElseThrow().getMessage();
        assertThat(told.observed().holds(READY)).isTrue();
        // Whether it may grow is the storage class's business; what is said has to fit.
        assertThat(message.contains("has 64Mi and not 128Mi")).isEqualTo(size.equals(new Quantity("64Mi")));
        assertThat(operator.requests("PATCH", "persistentvolumeclaims")).isEqualTo(1);
    }

    @Test
    void aClaimThatIsDeletedUnderItsPodIsToldWhileTheFilesCanBeSaved() {
        namespace.create("leaving", workspace("64Mi", true));
        awaitReady("leaving");

        namespace
                .admin
                .resource(Optional.ofNullable(claim("leaving")).orElseThrow())
                .delete();
        Sandbox told = namespace.await("leaving", SOON, sandbox -> sandbox.observed()
                .condition(READY)
                .filter(ready -> ready.getMessage().contains("claim workspace-leaving was deleted"))
                .isPresent());

        assertThat(told.observed().holds(READY)).isTrue();
        assertThat(told.observed().incarnation()).as("it is left alone").isEqualTo(1);
        namespace.edit("leaving", workspace("64Mi", true).withSuspended(true));
        await("its files go with its pod").atMost(SOON).until(() -> claim("leaving") == null);
    }
}
