package dev.sandglass.gateway.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

/** What is kept of denials, how it is read, and where that ends. */
class DeniedHostsTest {

    private final AtomicLong nanos = new AtomicLong();
    private final DeniedHosts hosts = new DeniedHosts(nanos::get);
    private final DenialLines lines = new DenialLines(hosts);

    private void hear(String text) {
        lines.add(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String line(String uid, String host) {
        return "{\"sandboxUid\":\"%s\",\"namespace\":\"n\",\"sandbox\":\"s\",\"host\":\"%s\",\"port\":443,\"reason\":\"not-allowed\",\"time\":\"t\"}\n"
                .formatted(uid, host);
    }

    private String taken(String uid) {
        return String.join(
                " ", hosts.take(uid, 0).stream().map(UnreachedHost::target).toList());
    }

    @Test
    void ofOneSandboxAndOnlyOnce() {
        hear(line("one", "a.example") + "\n" + line("two", "b.example"));
        hear(line("one", "c.example").substring(0, 20));
        hear(line("one", "c.example").substring(20));
        assertThat(taken("one")).isEqualTo("a.example:443 c.example:443");
        assertThat(taken("one")).isEmpty();
        assertThat(taken("two")).isEqualTo("b.example:443");
        assertThat(taken("three")).isEmpty();
    }

    @Test
    void severalMayReadWhatWasHeardSinceAMoment() {
        hosts.note("one", "before.example:443", "not-allowed");
        nanos.set(10);
        hosts.note("one", "after.example:443", "not-allowed");
        for (int i = 0; i < 2; i++) {
            assertThat(hosts.since("one", 10)).extracting(UnreachedHost::target).containsExactly("after.example:443");
        }
        nanos.set(11 + DeniedHosts.MAX_AGE.toNanos());
        assertThat(hosts.since("one", 10)).isEmpty();
        assertThat(hosts.since("two", 0)).isEmpty();
    }

    @Test
    void theNewestSixteen() {
        for (int i = 0; i < DeniedHosts.MAX_HOSTS; i++) {
            hosts.note("one", i + ".example:443", "not-allowed");
        }
        hosts.note("one", "0.example:443", "not-allowed");
        hosts.note("one", "more.example:443", "not-allowed");
        assertThat(hosts.take("one", 0))
                .hasSize(DeniedHosts.MAX_HOSTS)
                .extracting(UnreachedHost::target)
                .doesNotContain("1.example:443")
                .endsWith("0.example:443", "more.example:443");
    }

    @Test
    void failuresAreHeardOfToo() {
        hear(line("one", "a.example").replace("\"reason\":\"not-allowed\"", "\"failure\":\"nobody is there\""));
        assertThat(hosts.take("one", 0))
                .containsExactly(new UnreachedHost.Failed("a.example:443", "nobody is there", nanos.get()));
        hear(line("one", "a.example").replace("reason\":\"not-allowed", "failure\":\"" + "x".repeat(121)));
        hear(line("one", "a.example").replace("reason\":\"not-allowed", "failure\":\"two\\nlines"));
        hear(line("one", "a.example").replace("reason", "cause"));
        assertThat(hosts.take("one", 0)).isEmpty();
    }

    @Test
    void deadHostsHideNoDenial() {
        hosts.note("one", "denied.example:443", "not-allowed");
        for (int i = 0; i < 2 * DeniedHosts.MAX_HOSTS; i++) {
            hosts.noteFailure("one", i + ".example:443", "nobody is there");
        }
        assertThat(hosts.take("one", 0))
                .hasSize(DeniedHosts.MAX_HOSTS)
                .extracting(UnreachedHost::target)
                .startsWith("denied.example:443", "17.example:443")
                .endsWith("31.example:443");
    }

    @Test
    void soManySandboxesAndSoLong() {
        for (int i = 0; i <= DeniedHosts.MAX_SANDBOXES; i++) {
            hosts.note("uid-" + i, "x:1", "not-allowed");
        }
        assertThat(hosts.sandboxes()).isEqualTo(DeniedHosts.MAX_SANDBOXES);
        assertThat(taken("uid-0")).isEmpty();
        nanos.addAndGet(DeniedHosts.MAX_AGE.toNanos());
        assertThat(taken("uid-1")).isEqualTo("x:1");
        nanos.incrementAndGet();
        assertThat(taken("uid-2")).isEmpty();
    }

    @Test
    void whatIsNoDenialIsLeftOut() {
        hear("no json\n[]\n{}\n{\"sandboxUid\":7}\n");
        hear(line("one", "a b"));
        hear(line("one", "x".repeat(301)));
        hear(line("one", "a.example").replace("443", "0"));
        hear(line("one", "a.example").replace("443", "65536"));
        hear(" ".repeat(DenialLines.MAX_BYTES) + line("one", "long.example"));
        assertThat(hosts.sandboxes()).isZero();
        hear(line("one", "good.example"));
        assertThat(taken("one")).isEqualTo("good.example:443");
    }

    @Test
    void theNextOneIsAwaitedAndNotForLong() {
        StepVerifier.create(hosts.next("one", Duration.ofSeconds(20)))
                .then(() -> hosts.note("two", "x:1", "not-allowed"))
                .then(() -> hosts.note("one", "x:1", "not-allowed"))
                .expectComplete()
                .verify(Duration.ofSeconds(10));
        StepVerifier.create(hosts.next("one", Duration.ofMillis(10)))
                .expectComplete()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void whatWasBeforeACallWaitsForOneThatBeganEarlier() {
        hosts.note("one", "early.example:443", "not-allowed");
        nanos.set(5);
        hosts.note("one", "late.example:443", "not-allowed");
        assertThat(hosts.take("one", 5)).extracting(UnreachedHost::target).containsExactly("late.example:443");
        assertThat(hosts.take("one", 5)).isEmpty();
        assertThat(taken("one")).isEqualTo("early.example:443");
        assertThat(hosts.sandboxes()).isZero();
    }

    @Test
    void sinceWhen() {
        hosts.note("one", "x:1", "not-allowed");
        assertThat(hosts.hasSince("one", 0)).isTrue();
        assertThat(hosts.hasSince("one", 1)).isFalse();
        assertThat(hosts.hasSince("two", 0)).isFalse();
    }
}
