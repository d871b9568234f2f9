package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Node;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** How long after its pod a sandbox's status says what happened, both as a watch tells it. */
@Isolated("it measures how late a status is")
class StatusLagE2E {

    private static final Duration MOST = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    @AfterAll
    static void close() {
        TENANT.close();
    }

    /** When a watch first told of an object that is as it is waited for. */
    private record Sighting<T extends HasMetadata>(Predicate<T> sought, CompletableFuture<Long> at)
            implements Watcher<T> {

        static <T extends HasMetadata> Sighting<T> of(Predicate<T> sought) {
            return new Sighting<>(sought, new CompletableFuture<>());
        }

        @Override
        public void eventReceived(Action action, T now) {
            if (sought.test(now)) {
                at.complete(System.nanoTime());
            }
        }

        @Override
        public void onClose(WatcherException cause) {
            at.completeExceptionally(cause);
        }

        long await() {
            return at.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        }
    }

    /** The time from what the pod shows to what the sandbox says, after that was done to the pod. */
    private static Duration lag(String sandbox, Predicate<Pod> shown, Predicate<Sandbox> said, Runnable done) {
        Sighting<Pod> pod = Sighting.of(shown);
        Sighting<Sandbox> status = Sighting.of(said);
        Resource<Pod> watched = TENANT.kubernetes().pods().resource(TENANT.podOf(sandbox));
        try (Watch _ = watched.watch(pod);
                Watch _ = TENANT.resource(sandbox).watch(status)) {
            done.run();
            return Duration.ofNanos(status.await() - pod.await());
        }
    }

    @Test
    void aContainerThatWasStartedAgainIsCounted() {
        Optional<Node> node = Installation.current().ownNode();
        assumeTrue(node.isPresent(), "only the project's own node can be entered");
        String sandbox = SANDBOXES.start();
        String container = TENANT.containerOf(sandbox);

        Duration lag = lag(
                sandbox,
                pod -> pod.getStatus().getContainerStatuses().stream()
                        .map(ContainerStatus::getRestartCount)
                        .anyMatch(count -> count > 0),
                now -> now.observed().restarts() != null && now.observed().restarts() > 0,
                () -> node.orElseThrow().crash(container));

        assertThat(lag).isLessThan(MOST);
    }

    @Test
    void aPodThatIsPutOutIsNoLongerReady() {
        String sandbox = SANDBOXES.start();
        Pod pod = TENANT.podOf(sandbox);

        Duration lag = lag(
                sandbox,
                HasMetadata::isMarkedForDeletion,
                now -> !now.observed().holds(ConditionType.READY)
                        || !pod.getMetadata().getName().equals(now.observed().podName()),
                () -> assertThat(TENANT.kubernetes().pods().resource(pod).evict())
                        .isTrue());

        assertThat(lag).isLessThan(MOST);
    }
}
