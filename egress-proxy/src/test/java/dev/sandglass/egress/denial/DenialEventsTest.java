package dev.sandglass.egress.denial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What people read of denials. */
@EnableKubernetesMockClient(crud = true, https = false)
@SuppressWarnings("NullAway.Init")
class DenialEventsTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");

    private KubernetesClient client;

    private List<Event> written() {
        return client.events().v1().events().inNamespace("tenant").list().getItems();
    }

    private static Denial denial(String host, String reason) {
        return new Denial("uid-1", "tenant", "box", host, 443, reason, NOW);
    }

    @Test
    void oneForEachHost() {
        try (DenialEvents events = new DenialEvents(client, InstantSource.fixed(NOW))) {
            events.accept(denial("x.example", "not-allowed"));
            events.accept(denial("x.example", "not-allowed"));
            events.accept(denial("10.0.0.1", "address-denied"));
            events.tellTheRest();
            await().until(() -> written().size() == 2);
        }
        assertThat(written())
                .extracting(Event::getNote)
                .containsExactlyInAnyOrder(
                        "The egress proxy refused x.example:443 (not-allowed): add it to spec.allowedDomains if the"
                                + " sandbox is to reach it",
                        "The egress proxy refused 10.0.0.1:443 (address-denied): it leads to an address that only the"
                                + " installation can open");
        Event event = written().getFirst();
        assertThat(event.getReason()).isEqualTo("EgressDenied");
        assertThat(event.getType()).isEqualTo("Warning");
        assertThat(event.getEventTime().getTime()).isEqualTo("2026-01-02T03:04:05.678000Z");
        assertThat(event.getRegarding().getUid()).isEqualTo("uid-1");
        assertThat(event.getRegarding().getKind()).isEqualTo("Sandbox");
        assertThat(event.getMetadata().getName()).startsWith("box.");
    }

    @Test
    void twoReplicasTellOnce() {
        try (DenialEvents one = new DenialEvents(client, InstantSource.fixed(NOW));
                DenialEvents two = new DenialEvents(client, InstantSource.fixed(NOW))) {
            one.accept(denial("x.example", "not-allowed"));
            await().until(() -> written().size() == 1);
            two.accept(denial("x.example", "not-allowed"));
            two.accept(denial("y.example", "not-allowed"));
            await().until(() -> written().size() == 2);
        }
        assertThat(written()).extracting(Event::getNote).anyMatch(note -> note.contains("y.example"));
    }

    @Test
    void theCountIsInTheNote() {
        Event event = DenialEvents.event(new DenialCounts.Notice(denial("x.example", "not-allowed"), 7, NOW));
        assertThat(event.getNote()).startsWith("The egress proxy refused x.example:443 7 times (not-allowed)");
    }
}
