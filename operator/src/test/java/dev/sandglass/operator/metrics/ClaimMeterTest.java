package dev.sandglass.operator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.operator.lifecycle.ColdReason;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ClaimMeterTest {

    private final AtomicLong time = new AtomicLong();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ClaimMeter meter = new ClaimMeter(registry, time::get);

    @Test
    void hitsAndMissesAreCountedByReasonAndAClaimIsTimed() {
        long begun = meter.now();
        time.addAndGet(TimeUnit.MILLISECONDS.toNanos(7));
        meter.hit(begun);
        meter.hit();
        meter.miss(ColdReason.NO_MATCH);

        assertThat(registry.scrape())
                .contains("sandglass_sandbox_claims_total{reason=\"Claimed\",result=\"hit\"} 2.0")
                .contains("sandglass_sandbox_claims_total{reason=\"NoMatch\",result=\"miss\"} 1.0")
                .contains("sandglass_sandbox_claims_total{reason=\"NoSeat\",result=\"miss\"} 0.0")
                .contains("sandglass_claim_seconds_bucket{le=\"0.01\"} 1")
                .contains("sandglass_claim_seconds_bucket{le=\"0.005\"} 0")
                .contains("sandglass_claim_seconds_count 1");
    }
}
