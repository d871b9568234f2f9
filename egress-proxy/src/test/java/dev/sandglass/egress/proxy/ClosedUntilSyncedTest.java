package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.egress.tunnel.Limits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A proxy that has just started knows nobody for sure, and lets nobody through. */
@Tag("slow")
class ClosedUntilSyncedTest {

    private static final int ATTEMPTS = 10_000;
    private static final int THREADS = 4;

    @Test
    void nobodyIsLetThroughTenThousandTimes() throws Exception {
        Limits wide = new Limits(
                Limits.DEFAULT.head(),
                Limits.DEFAULT.lookup(),
                Limits.DEFAULT.connect(),
                Limits.DEFAULT.hello(),
                Limits.DEFAULT.idle(),
                1000,
                1000,
                10_000,
                0,
                Limits.BACKLOG);
        try (Stage stage = new Stage(wide, false, Set.of())) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "example.com:" + origin.port();
            stage.names.put("example.com", "127.0.0.1");
            // As when half of the caches are filled: the sandbox is known, others may be missing.
            stage.clients.put(SANDBOX, "one", target);
            stage.clients.setSynced(false);
            assertThat(refused(stage, target)).isEqualTo(ATTEMPTS);
            assertThat(stage.names.questions()).isEmpty();
            assertThat(origin.accepted()).isZero();
            stage.clients.setSynced(true);
            try (Peer peer = stage.tunnel(SANDBOX, target)) {
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    private static int refused(Stage stage, String target) throws InterruptedException, ExecutionException {
        List<Callable<Integer>> work = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            work.add(() -> refusedOf(stage, target, ATTEMPTS / THREADS));
        }
        int sum = 0;
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            for (Future<Integer> part : threads.invokeAll(work)) {
                sum += part.get();
            }
        }
        return sum;
    }

    private static int refusedOf(Stage stage, String target, int attempts) throws IOException {
        int count = 0;
        for (int i = 0; i < attempts; i++) {
            try (Peer peer = stage.tunnel(SANDBOX, target)) {
                String head = peer.head();
                count += head.startsWith("HTTP/1.1 503 ") && head.contains("X-Proxy-Error: not-ready") ? 1 : 0;
            }
        }
        return count;
    }
}
