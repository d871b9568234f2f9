package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Files from outside, and a workspace that outlives its pod. The cluster's default storage class makes the volumes. */
class VolumesE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Deque<HasMetadata> MADE = new ArrayDeque<>();
    private static final Duration SOON = Duration.ofSeconds(90);

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        MADE.forEach(object -> TENANT.kubernetes().resource(object).delete());
        TENANT.close();
    }

    private static <T extends HasMetadata> T made(T object) {
        MADE.push(object);
        return TENANT.kubernetes().resource(object).create();
    }

    private static String claim() {
        String name = SANDBOXES.name() + "-data";
        made(new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(Tenant.NAMESPACE)
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteOnce")
                .withNewResources()
                .addToRequests("storage", new Quantity("64Mi"))
                .endResources()
                .endSpec()
                .build());
        return name;
    }

    private static ConfigMap configMap(String name) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(Tenant.NAMESPACE)
                .addToLabels(SandboxLabels.MOUNTABLE, "true")
                .endMetadata()
                .addToData("greeting", "hello")
                .build();
    }

    private static Secret secret(String name) {
        return new SecretBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(Tenant.NAMESPACE)
                .endMetadata()
                .addToStringData("token", "t0p")
                .build();
    }

    private static void create(String name, Volume... volumes) {
        var sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(Tenant.NAMESPACE)
                .build());
        sandbox.setSpec(SandboxSpec.DEFAULT.withVolumes(List.of(volumes)));
        TENANT.kubernetes().resource(sandbox).create();
    }

    private static Sandbox awaitReason(String name, Reason reason) {
        return TENANT.resource(name)
                .waitUntilCondition(
                        sandbox -> sandbox != null
                                && sandbox.observed()
                                        .reason(ConditionType.READY)
                                        .filter(reason::equals)
                                        .isPresent(),
                        5,
                        TimeUnit.MINUTES);
    }

    private void run(String sandbox, String script) {
        Answer answer = agent.command(sandbox, "sh", "-c", script);
        assertThat(answer.failed()).as(answer.text()).isFalse();
    }

    private @Nullable String read(String sandbox, String path) {
        return agent.python(sandbox, "open('%s').read()".formatted(path)).result();
    }

    private static @Nullable PersistentVolumeClaim workspaceOf(String sandbox) {
        return TENANT.kubernetes()
                .persistentVolumeClaims()
                .inNamespace(Tenant.NAMESPACE)
                .withName("workspace-" + sandbox)
                .get();
    }

    @Test
    void aClaimIsWrittenByOneAndReadByTheNext() {
        String claim = claim();
        String writer = SANDBOXES.start(Map.of("volumes", List.of(claim + ":/data:rw")));
        run(writer, "echo from the writer > /data/note");
        assertThat(agent.call(
                                "sandbox_write_file",
                                Map.of("sandbox", writer, "path", "/data/deep/tool", "content", "from the tool"))
                        .failed())
                .isFalse();

        String reader = SANDBOXES.start(Map.of("volumes", List.of(claim + ":/in")));

        assertThat(read(reader, "/in/note")).isEqualTo("'from the writer\\n'");
        assertThat(agent.call("sandbox_read_file", Map.of("sandbox", reader, "path", "/in/deep/tool"))
                        .text())
                .isEqualTo("from the tool");
        assertThat(agent.python(reader, "open('/in/note', 'w')").object("error").get("name"))
                .isEqualTo("OSError");
        assertThat(agent.refusal("sandbox_write_file", Map.of("sandbox", reader, "path", "/in/note", "content", "x")))
                .contains("can only be read");
    }

    /** The node's runtime follows a link on the way to a mount: here to the folder of the supervisor. */
    @Test
    void noVolumeIsMountedWhereALinkOfTheCodeLeadsIt() {
        String claim = claim();
        String sandbox = SANDBOXES.start(Map.of("workspace", "128Mi"));
        run(sandbox, "ln -s /opt/sandglass /workspace/x");
        agent.call("sandbox_stop", Map.of("sandbox", sandbox));

        assertThat(agent.refusal(
                        "sandbox_start",
                        Map.of("sandbox", sandbox, "config", Map.of("volumes", List.of(claim + ":/workspace/x:rw")))))
                .contains("config.volumes[0]", "'/workspace/x'", "spec.workspace");
        assertThatThrownBy(() -> TENANT.change(sandbox, found -> {
                    found.setSpec(
                            found.wanted().withVolumes(List.of(Volume.ofClaim("code", "/workspace/x", false, claim))));
                    return found;
                }))
                .hasMessageContaining("everything below them are reserved");

        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();
        assertThat(read(sandbox, "/proc/self/mountinfo")).doesNotContain(" /opt/sandglass");
    }

    @Test
    void aHostsPathIsRefusedWithTheReason() {
        assertThat(agent.refusal(
                        "sandbox_start",
                        Map.of("sandbox", SANDBOXES.name(), "config", Map.of("volumes", List.of("/etc:/data")))))
                .contains("config.volumes[0]", "a path of a host", "PersistentVolumeClaim");
    }

    @Test
    void aMissingClaimEndsTheStartWithItsName() {
        assertThat(agent.refusal(
                        "sandbox_start",
                        Map.of("sandbox", SANDBOXES.name(), "config", Map.of("volumes", List.of("no-such:/data")))))
                .contains("VolumeMissing", "no-such");
    }

    @Test
    void aConfigMapAndASecretThatWereOpenedAreFiles() {
        String name = SANDBOXES.name();
        made(configMap(name));
        made(secret("mountable-" + name));

        create(
                name,
                new Volume("words", "/words", null, null, new Volume.ConfigMap(name), null, null),
                new Volume("key", "/key", null, null, null, new Volume.Secret("mountable-" + name), null),
                new Volume("scratch", "/scratch", null, null, null, null, new Volume.EmptyDir("64Mi")));
        awaitReason(name, Reason.RUNNING);

        assertThat(read(name, "/words/greeting")).isEqualTo("'hello'");
        assertThat(read(name, "/key/token")).isEqualTo("'t0p'");
        run(name, "echo x > /scratch/x && ! touch /words/x 2>/dev/null && ! touch /key/x 2>/dev/null");
    }

    @Test
    void aConfigMapIsNotMountedBeforeItsOwnerOpensIt() {
        String name = SANDBOXES.name();
        ConfigMap closed = configMap(name);
        closed.getMetadata().setLabels(Map.of());
        made(closed);
        create(name, new Volume("words", "/words", null, null, new Volume.ConfigMap(name), null, null));

        Sandbox refused = awaitReason(name, Reason.VOLUME_MISSING);
        assertThat(refused.observed()
                        .condition(ConditionType.READY)
                        .orElseThrow()
                        .getMessage())
                .contains(name, "sandglass.dev/mountable=true");
        assertThat(refused.observed().podName()).isNull();

        TENANT.kubernetes().resource(configMap(name)).forceConflicts().serverSideApply();
        awaitReason(name, Reason.RUNNING);
        assertThat(read(name, "/words/greeting")).isEqualTo("'hello'");
    }

    @Test
    void aSecretIsMissedByNameUntilItIsThere() {
        String name = SANDBOXES.name();
        create(name, new Volume("key", "/key", null, null, null, new Volume.Secret("mountable-" + name), null));
        assertThat(awaitReason(name, Reason.VOLUME_MISSING)
                        .observed()
                        .condition(ConditionType.READY)
                        .orElseThrow()
                        .getMessage())
                .contains("no Secret mountable-" + name);

        made(secret("mountable-" + name));

        awaitReason(name, Reason.RUNNING);
        assertThat(read(name, "/key/token")).isEqualTo("'t0p'");
    }

    @Test
    void aWorkspaceSurvivesStopAndStartAndGoesWithItsSandbox() {
        String sandbox = SANDBOXES.start(Map.of("workspace", "128Mi"));
        run(sandbox, "echo kept > /workspace/note && mkdir -p ~/.local/bin");

        agent.call("sandbox_stop", Map.of("sandbox", sandbox));
        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();

        assertThat(read(sandbox, "/workspace/note")).isEqualTo("'kept\\n'");
        assertThat(TENANT.sandbox(sandbox).observed().incarnation()).isEqualTo(2);

        assertThat(agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true))
                        .text())
                .contains("It is deleted; its workspace too, with all files");
        await("the claim to go").atMost(SOON).until(() -> workspaceOf(sandbox) == null);
    }

    @Test
    void aKeptWorkspaceIsTakenAgainByTheNextSandboxOfThatName() {
        String sandbox = SANDBOXES.start(Map.of("workspace", Map.of("size", "128Mi", "keep", true)));
        run(sandbox, "echo kept > /workspace/note");
        String uid = TENANT.sandbox(sandbox).getMetadata().getUid();

        assertThat(agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true))
                        .text())
                .contains("It is deleted; its workspace is kept");
        await("the sandbox and its pod to go")
                .atMost(SOON)
                .until(() -> TENANT.resource(sandbox).get() == null
                        && TENANT.kubernetes()
                                .pods()
                                .inNamespace(Tenant.NAMESPACE)
                                .withLabel(SandboxLabels.SANDBOX_UID, uid)
                                .list()
                                .getItems()
                                .isEmpty());
        Answer again = SANDBOXES.bringUp(sandbox, Map.of("workspace", Map.of("size", "128Mi")));

        assertThat(again.failed()).as(again.text()).isFalse();
        assertThat(TENANT.sandbox(sandbox).getMetadata().getUid()).isNotEqualTo(uid);
        assertThat(read(sandbox, "/workspace/note")).isEqualTo("'kept\\n'");
        MADE.push(Objects.requireNonNull(workspaceOf(sandbox)));
    }
}
