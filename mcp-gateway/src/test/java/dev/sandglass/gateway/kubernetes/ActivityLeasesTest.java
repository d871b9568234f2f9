package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class ActivityLeasesTest {

    private static final ActivityLeases.Subject BOX =
            new ActivityLeases.Subject("sandglass-default", "box", "uid", Optional.empty(), Optional.empty());
    private static final Clock NOON = Clock.fixed(Instant.parse("2026-11-23T12:00:00Z"), ZoneOffset.UTC);

    @SuppressWarnings("NullAway.Init") // set by the annotation
    private KubernetesClient client;

    @Tag("slow")
    @Test
    void theLongestOfManyUsesAtOnceIsWritten() {
        try (ApiCalls calls = new ApiCalls()) {
            ActivityLeases leases = new ActivityLeases(client, calls, Duration.ofMinutes(1), NOON);

            for (int minutes : new int[] {1, 60, 2, 3}) {
                leases.note(BOX, Duration.ofMinutes(minutes));
            }

            await().until(() -> Optional.ofNullable(lease())
                    .filter(lease -> lease.getSpec().getLeaseDurationSeconds() == 3600)
                    .isPresent());
        }
    }

    @Tag("slow")
    @Test
    void aSandboxMayBeBusyAsLongAsItsLeaseSaysSo() {
        Duration idle = Duration.ofMinutes(40);
        Duration later = Duration.ofHours(1).plus(idle.dividedBy(4)).plus(Activity.SKEW);
        try (ApiCalls calls = new ApiCalls()) {
            var leases = new ActivityLeases(client, calls, idle, NOON);
            assertThat(leases.mayBeBusy(BOX)).as("without a lease").isFalse();

            leases.note(BOX, Duration.ofHours(1));
            await().until(() -> lease() != null);

            assertThat(leases.mayBeBusy(BOX)).isTrue();
            assertThat(new ActivityLeases(client, calls, idle, Clock.offset(NOON, later)).mayBeBusy(BOX))
                    .isTrue();
            assertThat(new ActivityLeases(client, calls, idle, Clock.offset(NOON, later.plusMillis(1))).mayBeBusy(BOX))
                    .isFalse();
        }
    }

    /** The operator counts the idle time from the start on. */
    @Tag("slow")
    @Test
    void rightAfterAStartTheLeaseMayWaitUnlessTheUseIsLong() {
        Duration idle = Duration.ofMinutes(40);
        Instant start = NOON.instant();
        var started =
                new ActivityLeases.Subject("sandglass-default", "box", "uid", Optional.empty(), Optional.of(start));
        try (ApiCalls calls = new ApiCalls()) {
            var leases = new ActivityLeases(client, calls, idle, NOON);
            Duration moment = Duration.ofSeconds(2);
            Instant soon = start.plusMillis(1_999);
            assertThat(leases.delay(started, Activity.now(start, Duration.ZERO)))
                    .isEqualTo(moment);
            assertThat(leases.delay(started, Activity.now(soon, Duration.ZERO))).isEqualTo(moment);
            assertThat(leases.delay(started, Activity.now(start, Duration.ofMinutes(10))))
                    .isEqualTo(moment);
            assertThat(leases.delay(started, Activity.now(start, Duration.ofMillis(600_001))))
                    .isZero();
            assertThat(leases.delay(started, Activity.now(start.plus(moment), Duration.ZERO)))
                    .isZero();
            assertThat(leases.delay(BOX, Activity.now(start, Duration.ZERO)))
                    .as("the start is not known")
                    .isZero();
            Instant early = start.minus(Activity.SKEW).minusMillis(1);
            assertThat(leases.delay(started, Activity.now(early, Duration.ZERO)))
                    .as("a clock is wrong")
                    .isZero();

            leases.note(started, Duration.ZERO);
            leases.note(started, Duration.ofMinutes(1));
            await().until(() -> Optional.ofNullable(lease())
                    .filter(lease -> lease.getSpec().getLeaseDurationSeconds() == 60)
                    .isPresent());
        }
    }

    /** The gateway that ran something there may have died before it wrote. */
    @Tag("slow")
    @Test
    void aSandboxMayBeBusyForAQuarterOfTheIdleTimeFromItsStartOn() {
        Duration idle = Duration.ofMinutes(40);
        var started = new ActivityLeases.Subject(
                "sandglass-default", "box", "uid", Optional.empty(), Optional.of(NOON.instant()));
        Duration last = idle.dividedBy(4).plus(Activity.SKEW);
        try (ApiCalls calls = new ApiCalls()) {
            for (boolean may : new boolean[] {true, false}) {
                Clock then = Clock.offset(NOON, may ? last : last.plusMillis(1));
                assertThat(new ActivityLeases(client, calls, idle, then).mayBeBusy(started))
                        .isEqualTo(may);
            }
        }
    }

    private Lease lease() {
        return client.leases()
                .inNamespace(BOX.namespace())
                .withName(SandboxLabels.leaseName(BOX.uid()))
                .get();
    }
}
