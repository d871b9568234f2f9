package dev.sandglass.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A sandbox takes a seat instead of waiting for a pod, with its environment and its network list. */
class WarmStartE2E {

    private static final int MEMORY = 301;
    private static final Duration SOON = Duration.ofSeconds(90);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Pool POOL = Pool.of(TENANT, 1, MEMORY, "python", "javascript");

    private final Agent agent = SANDBOXES.agent();

    @BeforeEach
    void fill() {
        POOL.awaitSeats(1);
    }

    @AfterAll
    static void close() {
        POOL.close();
        TENANT.close();
    }

    private String warm(Map<String, Object> more) {
        String sandbox = SANDBOXES.start(POOL.config(more));
        assertThat(POOL.startOf(sandbox)).isEqualTo("Warm: pool " + POOL.name());
        return sandbox;
    }

    @Test
    void theSeatBecomesTheSandboxsPodWithItsEnvironment() {
        Pod seat = POOL.seats().getFirst();

        String sandbox = warm(Map.of("envs", Map.of("E2E_WARM", "\u00e4 b")));

        Pod pod = TENANT.podOf(sandbox);
        assertThat(pod.getMetadata().getUid()).isEqualTo(seat.getMetadata().getUid());
        assertThat(pod.getMetadata().getOwnerReferences()).singleElement().satisfies(owner -> assertThat(owner.getUid())
                .isEqualTo(TENANT.sandbox(sandbox).getMetadata().getUid()));
        assertThat(TENANT.sandbox(sandbox).observed().seat())
                .isEqualTo(seat.getMetadata().getLabels().get(SandboxLabels.SEAT));
        assertThat(agent.python(sandbox, "import os; os.environ['E2E_WARM']").result())
                .isEqualTo("'\u00e4 b'");
        assertThat(agent.command(sandbox, "sh", "-c", "echo $E2E_WARM").stdout())
                .isEqualTo("\u00e4 b\n");
        Answer node = agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "language", "javascript", "code", "process.env.E2E_WARM"));
        assertThat(node.result()).isEqualTo("'\u00e4 b'");
    }

    @Test
    void anotherSeatComesInItsPlace() {
        Pod seat = POOL.seats().getFirst();

        warm(Map.of());

        POOL.awaitSeats(1);
        assertThat(POOL.seats().getFirst().getMetadata().getUid())
                .isNotEqualTo(seat.getMetadata().getUid());
    }

    @Test
    void aSeatIsUsedOnce() {
        String sandbox = warm(Map.of());
        agent.python(sandbox, "x = 1; open('/workspace/left', 'w').close()");
        Pod first = TENANT.podOf(sandbox);
        POOL.awaitSeats(1);

        agent.call("sandbox_stop", Map.of("sandbox", sandbox));
        await("the pod to go").atMost(SOON).until(() -> !TENANT.hasPod(first));
        SANDBOXES.bringUp(sandbox);

        assertThat(POOL.startOf(sandbox)).isEqualTo("Warm: pool " + POOL.name());
        assertThat(TENANT.sandbox(sandbox).observed().incarnation()).isEqualTo(2);
        Answer after = agent.python(sandbox, "import os; 'left' in os.listdir('/workspace')");
        assertThat(after.result()).isEqualTo("False");
        assertThat(after.text()).contains("variables of earlier calls were lost");
        assertThat(TENANT.podOf(sandbox).getMetadata().getUid())
                .isNotEqualTo(first.getMetadata().getUid());
    }

    @Test
    void aDeletedSandboxTakesItsPodAndItsKeysAlong() {
        String sandbox = warm(Map.of());
        Pod pod = TENANT.podOf(sandbox);

        agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));

        await("pod and keys to go")
                .atMost(SOON)
                .until(() -> !TENANT.hasPod(pod)
                        && TENANT.kubernetes()
                                        .secrets()
                                        .inNamespace(Tenant.NAMESPACE)
                                        .withName(pod.getMetadata().getName())
                                        .get()
                                == null);
    }

    @Test
    void whatNoSeatHasStartsColdAndSaysWhy() {
        String larger = SANDBOXES.start(POOL.coldConfig(Map.of("envs", Map.of("E2E_COLD", "1"))));

        assertThat(POOL.startOf(larger)).isEqualTo("Cold: NoMatch: memory");
        assertThat(agent.python(larger, "import os; os.environ['E2E_COLD']").result())
                .isEqualTo("'1'");
        POOL.resize(0);
        try {
            await("the seat to go").atMost(SOON).until(() -> POOL.seats().isEmpty());
            String unseated = SANDBOXES.start(POOL.config(Map.of()));
            assertThat(POOL.startOf(unseated)).isEqualTo("Cold: NoSeat");
        } finally {
            POOL.resize(1);
        }
    }

    @Test
    void aPoolWithoutLanguagesServesToo() {
        try (Pool bare = Pool.of(TENANT, 1, MEMORY + 7)) {
            String sandbox = SANDBOXES.start(bare.config(Map.of("envs", Map.of("E2E_BARE", "yes"))));

            assertThat(bare.startOf(sandbox)).isEqualTo("Warm: pool " + bare.name());
            assertThat(agent.python(sandbox, "import os; os.environ['E2E_BARE']")
                            .result())
                    .isEqualTo("'yes'");
        }
    }

    @Test
    void severalAtOnceAllRunAndNoSeatIsTakenTwice() {
        List<String> sandboxes = Stream.generate(SANDBOXES::name).limit(3).toList();

        List<Answer> started = sandboxes.parallelStream()
                .map(name -> SANDBOXES.bringUp(name, POOL.config(Map.of("envs", Map.of("ME", name)))))
                .toList();

        assertThat(started).noneMatch(Answer::failed);
        for (String sandbox : sandboxes) {
            assertThat(agent.python(sandbox, "import os; os.environ['ME']").result())
                    .isEqualTo("'" + sandbox + "'");
        }
        assertThat(sandboxes.stream().map(TENANT::podOf).map(pod -> pod.getMetadata()
                        .getUid()))
                .doesNotHaveDuplicates();
        assertThat(sandboxes.stream().filter(POOL::gaveItsSeatTo)).isNotEmpty();
    }
}
