package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each sandbox runs as a user of its own, who has a name, keeps the files and shares no account with the neighbours. */
class UidE2E {

    private static final long GROUP = 65532;
    private static final long LEAST = 65536;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Deque<PersistentVolumeClaim> CLAIMS = new ArrayDeque<>();

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        CLAIMS.forEach(claim -> TENANT.kubernetes().resource(claim).delete());
        TENANT.close();
    }

    private long uid(String sandbox) {
        assumeFalse(
                Boolean.FALSE.equals(TENANT.podOf(sandbox).getSpec().getHostUsers()),
                "sandboxes have user namespaces here");
        return Long.parseLong(
                String.valueOf(agent.python(sandbox, "import os\nos.getuid()").result()));
    }

    /** Runs a script that has to succeed; what it prints. */
    private String shell(String sandbox, String script) {
        Answer answer = agent.command(sandbox, "bash", "-euc", script);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer.stdout().strip();
    }

    private static String claim() {
        String name = SANDBOXES.name() + "-shared";
        PersistentVolumeClaim claim = new PersistentVolumeClaimBuilder()
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
                .build();
        CLAIMS.push(TENANT.kubernetes().resource(claim).create());
        return name;
    }

    @Test
    void twoSandboxesAreTwoUsersOfOneGroup() {
        String one = SANDBOXES.start();
        String other = SANDBOXES.start();

        assertThat(uid(one)).isGreaterThanOrEqualTo(LEAST).isNotEqualTo(uid(other));
        assertThat(uid(other)).isGreaterThanOrEqualTo(LEAST);
        assertThat(shell(one, "id -g; id -G")).isEqualTo(GROUP + "\n" + GROUP);
    }

    @Test
    void theUserHasAName() {
        String sandbox = SANDBOXES.start();

        assertThat(shell(sandbox, "whoami; id -gn; id -un")).isEqualTo("sandbox\nsandbox\nsandbox");
        assertThat(agent.python(
                                sandbox,
                                "import getpass, os, pwd\nos.environ.pop('LOGNAME', 0)\nos.environ.pop('USER', 0)\n"
                                        + "getpass.getuser(), pwd.getpwuid(os.getuid()).pw_dir, os.path.expanduser('~sandbox')")
                        .result())
                .isEqualTo("('sandbox', '/workspace', '/workspace')");
    }

    @Test
    void toolsThatAskForTheUserWork() {
        String sandbox = SANDBOXES.start();

        shell(sandbox, """
                for folder in /workspace/project /workspace; do
                  git init -q "$folder" && cd "$folder" && echo x >file && git add file && git commit -qm first
                  git log --format=%s | grep -qx first
                done
                if command -v ssh-keygen; then ssh-keygen -q -t ed25519 -N '' -f ~/key && ssh-keygen -y -f ~/key; fi
                python3 -m venv --without-pip /workspace/env && /workspace/env/bin/python -c 'import site'""");
    }

    @Test
    void aUserAndItsFilesOutliveTheStop() {
        String sandbox = SANDBOXES.start(Map.of("workspace", "64Mi"));
        long before = uid(sandbox);
        shell(sandbox, "umask 077; mkdir ~/own; echo secret >~/own/key; chmod 600 ~/own/key");

        agent.call("sandbox_stop", Map.of("sandbox", sandbox));
        SANDBOXES.bringUp(sandbox);

        assertThat(uid(sandbox)).isEqualTo(before);
        assertThat(shell(sandbox, "chmod 400 ~/own/key; cat ~/own/key; rm -f ~/own/key; stat -c %u ~/own"))
                .isEqualTo("secret\n" + before);
    }

    @Test
    void theNextSandboxOfTheNameIsTheUserWhoseFilesItTakes() {
        Map<String, Object> config = Map.of("workspace", Map.of("size", "64Mi", "keep", true));
        String sandbox = SANDBOXES.start(config);
        CLAIMS.push(TENANT.kubernetes()
                .persistentVolumeClaims()
                .inNamespace(Tenant.NAMESPACE)
                .withName("workspace-" + sandbox)
                .require());
        long before = uid(sandbox);
        shell(sandbox, "echo secret >~/key; chmod 600 ~/key");

        agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));
        await("the sandbox to be gone")
                .atMost(Duration.ofSeconds(90))
                .until(() -> TENANT.resource(sandbox).get() == null);
        assertThat(SANDBOXES.bringUp(sandbox, config).failed()).isFalse();

        assertThat(uid(sandbox)).isEqualTo(before);
        assertThat(shell(sandbox, "chmod 400 ~/key; cat ~/key")).isEqualTo("secret");
    }

    @Test
    void twoThatShareAClaimWriteWhatTheOtherMade() {
        List<String> volumes = List.of(claim() + ":/data:rw");
        String one = SANDBOXES.start(Map.of("volumes", volumes));
        shell(one, "mkdir /data/deep; echo one >/data/deep/note");

        String other = SANDBOXES.start(Map.of("volumes", volumes));
        shell(other, "echo other >>/data/deep/note; echo x >/data/deep/second");

        assertThat(shell(one, "echo again >>/data/deep/second; cat /data/deep/note"))
                .isEqualTo("one\nother");
    }

    /** Linux counts processes per uid and not per pod: who shares one is counted with the neighbour's. */
    @Test
    void theProcessesOfOneAreNotCountedForTheOther() {
        String crowd = SANDBOXES.start();
        String alone = SANDBOXES.start();
        Answer crowded = agent.python(crowd, """
                import threading
                for _ in range(200):
                    threading.Thread(target=threading.Event().wait, daemon=True).start()
                threading.active_count() >= 200
                """);
        assertThat(crowded.result()).as(crowded.text()).isEqualTo("True");

        assertThat(shell(alone, "ulimit -u 100; for _ in 1 2 3; do /bin/true; done; echo forked"))
                .isEqualTo("forked");
    }
}
