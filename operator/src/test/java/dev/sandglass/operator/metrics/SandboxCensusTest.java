package dev.sandglass.operator.metrics;

import static dev.sandglass.operator.cluster.Statuses.ready;
import static dev.sandglass.operator.cluster.Statuses.sandbox;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SandboxCensusTest {

    private final List<Sandbox> sandboxes = new ArrayList<>();
    private final AtomicLong time = new AtomicLong(-5);
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @Test
    void sandboxesAreCountedByNamespaceAndReasonAndWhatThereIsNotIsZero() {
        sandboxes.add(sandbox("a", "one", ready("True", Reason.RUNNING, "")));
        sandboxes.add(sandbox("a", "two", ready("True", Reason.RUNNING, "")));
        sandboxes.add(sandbox("b", "one", ready("False", Reason.QUOTA_EXCEEDED, "")));
        sandboxes.add(sandbox("b", "new", SandboxStatus.UNSEEN));
        SandboxCensus.of(sandboxes::stream, time::get).bindTo(registry, Set.of("a", "b"));

        assertThat(registry.scrape())
                .contains("sandglass_sandboxes{ready=\"true\",reason=\"Running\",sandbox_namespace=\"a\"} 2.0")
                .contains("sandglass_sandboxes{ready=\"true\",reason=\"Running\",sandbox_namespace=\"b\"} 0.0")
                .contains("sandglass_sandboxes{ready=\"false\",reason=\"QuotaExceeded\",sandbox_namespace=\"b\"} 1.0")
                .contains("sandglass_sandboxes{ready=\"false\",reason=\"Unseen\",sandbox_namespace=\"b\"} 1.0")
                .doesNotContain("PoliciesApplied");
    }

    @Test
    void whereAllNamespacesAreWatchedTheyAreCountedTogether() {
        sandboxes.add(sandbox("a", "one", ready("True", Reason.RUNNING, "")));
        sandboxes.add(sandbox("b", "one", ready("True", Reason.RUNNING, "")));
        SandboxCensus.of(sandboxes::stream, time::get).bindTo(registry, Constants.WATCH_ALL_NAMESPACE_SET);

        assertThat(registry.scrape())
                .contains("sandglass_sandboxes{ready=\"true\",reason=\"Running\",sandbox_namespace=\"*\"} 2.0");
    }

    @Test
    void oneScrapeCountsOnceAndTheNextCountsAgain() {
        AtomicLong counts = new AtomicLong();
        SandboxCensus.of(
                        () -> {
                            counts.incrementAndGet();
                            return sandboxes.stream();
                        },
                        time::get)
                .bindTo(registry, Set.of("a"));

        registry.scrape();
        registry.scrape();
        assertThat(counts).hasValue(1);

        time.addAndGet(TimeUnit.SECONDS.toNanos(1));
        sandboxes.add(sandbox("a", "one", ready("True", Reason.RESTARTED, "")));
        assertThat(registry.scrape()).contains("reason=\"Restarted\",sandbox_namespace=\"a\"} 1.0");
        assertThat(counts).hasValue(2);
    }
}
