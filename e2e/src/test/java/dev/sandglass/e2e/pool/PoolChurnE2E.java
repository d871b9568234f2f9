package dev.sandglass.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GrantedKey;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Sandboxes one after another and several at once from a pool of four, while seats are deleted and the template changes. How
 * many: {@code -Dsandglass.pool.starts=200}.
 */
@Isolated("it fills the node")
class PoolChurnE2E {

    private static final int STARTS = Integer.getInteger("sandglass.pool.starts", 24);
    private static final int SEATS = 4;
    private static final int AT_ONCE = 3;
    private static final int MEMORY = 200;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Agent agent = SANDBOXES.agent();
    private final List<String> starts = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> pods = Collections.synchronizedSet(new HashSet<>());

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @Test
    void allWorkAndNoSeatIsClaimedTwiceAndNeverAreThereMoreThanOneAbove() {
        var over = new AtomicBoolean();
        var most = new AtomicInteger();
        try (Pool pool = Pool.of(TENANT, SEATS, MEMORY, "python");
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            CompletableFuture<Void> watch = CompletableFuture.runAsync(
                    () -> {
                        while (!over.get()) {
                            most.accumulateAndGet(pool.seats().size(), Math::max);
                        }
                    },
                    threads);
            try {
                for (int started = 0; started < STARTS; started += AT_ONCE + 1) {
                    use(pool);
                    disturb(pool, started);
                    CompletableFuture.allOf(Stream.generate(() -> CompletableFuture.runAsync(() -> use(pool), threads))
                                    .limit(AT_ONCE)
                                    .toArray(CompletableFuture[]::new))
                            .join();
                }
            } finally {
                over.set(true);
            }
            watch.join();

            pool.awaitSeats(SEATS);
        }
        assertThat(most.get()).as("seats at once").isLessThanOrEqualTo(SEATS + 1);
        assertThat(pods).as("a pod for each").hasSameSizeAs(starts);
        assertThat(starts).hasSizeGreaterThanOrEqualTo(STARTS).allMatch(each -> each.matches("(Warm|Cold): .+"));
        assertThat(starts).as("warm ones").anyMatch(each -> each.startsWith("Warm: pool "));
    }

    /** In turn: a seat goes, all seats go, or all seats are replaced. */
    private static void disturb(Pool pool, int started) {
        List<Pod> seats = pool.seats();
        switch (started / (AT_ONCE + 1) % 3) {
            case 0 ->
                seats.stream()
                        .limit(1)
                        .forEach(pod -> TENANT.kubernetes().resource(pod).delete());
            case 1 -> seats.forEach(pod -> TENANT.kubernetes().resource(pod).delete());
            default -> pool.changeLanguages();
        }
    }

    /** Starts one, has it compute, notes what it got, and gives it up. */
    private void use(Pool pool) {
        String sandbox = "e2e-churn-" + GrantedKey.random(4);
        try {
            Answer started = SANDBOXES.bringUp(sandbox, pool.config(Map.of("envs", Map.of("ME", sandbox))));
            assertThat(started.failed()).as(started.text()).isFalse();
            assertThat(agent.python(sandbox, "import os; os.environ['ME']").result())
                    .isEqualTo("'" + sandbox + "'");
            starts.add(pool.startOf(sandbox));
            assertThat(pods.add(TENANT.podOf(sandbox).getMetadata().getUid()))
                    .as("a pod of its own")
                    .isTrue();
        } finally {
            agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));
        }
    }
}
