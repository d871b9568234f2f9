package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.watch.SandboxWatches;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An operator that starts among more sandboxes than one answer of the API server tells of. */
class PagesIT {

    private static final int SANDBOXES = (int) SandboxWatches.PAGE + 1;
    private static final Duration SOON = Duration.ofMinutes(4);

    @Test
    void theOneOnTheSecondPageIsLookedAfterToo() {
        try (TestNamespace namespace = new TestNamespace()) {
            SandboxSpec resting = SandboxSpec.DEFAULT.withSuspended(true);
            IntStream.range(0, SANDBOXES).parallel().forEach(i -> namespace.create("many-" + i, resting));

            try (TestNamespace.Running operator = namespace.operator(Map.of())) {
                await().atMost(SOON).until(() -> operator.requests("PUT", "sandboxes/status") >= SANDBOXES);

                List<Sandbox> all = namespace
                        .admin
                        .resources(Sandbox.class)
                        .inNamespace(namespace.name)
                        .list()
                        .getItems();
                assertThat(all).hasSize(SANDBOXES).allMatch(sandbox -> sandbox.observed()
                        .holds(ConditionType.SUSPENDED));
                // Two pages and a watch.
                assertThat(operator.requests("GET", "sandboxes")).isGreaterThanOrEqualTo(3);
            }
        }
    }
}
