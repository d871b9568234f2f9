package dev.sandglass.operator.write;

import static dev.sandglass.operator.cluster.Statuses.sandbox;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.lifecycle.Notice;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class SandboxEventsTest {

    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
    private static final Notice FULL = new Notice(true, "QuotaExceeded", "no room in the quota");

    private final Sandbox sandbox = sandbox("a", "demo", SandboxStatus.UNSEEN);

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    @SuppressWarnings("NullAway.Init")
    private SandboxEvents events;

    @BeforeEach
    void prepare() {
        events = new SandboxEvents(client);
    }

    private List<Event> written() {
        return client.events().v1().events().inNamespace("a").list().getItems();
    }

    @Test
    void anEventNamesTheSandboxItsCauseAndTheTimeAsTheApiServerWantsThem() {
        events.tell(sandbox, 1, FULL, NOW);

        assertThat(written()).singleElement().satisfies(event -> {
            assertThat(event.getRegarding().getKind()).isEqualTo("Sandbox");
            assertThat(event.getRegarding().getUid()).isEqualTo("uid-demo");
            assertThat(event.getType()).isEqualTo("Warning");
            assertThat(event.getReason()).isEqualTo("QuotaExceeded");
            assertThat(event.getNote()).isEqualTo("no room in the quota");
            assertThat(event.getEventTime().getTime()).isEqualTo("2026-03-01T10:00:00.000000Z");
            assertThat(event.getSeries()).isNull();
        });
    }

    @Tag("slow")
    @Test
    void theSameCauseIsOneEventThatCountsAndIsWrittenOnceAMinute() {
        events.tell(sandbox, 1, FULL, NOW);
        events.tell(sandbox, 1, FULL, NOW.plusSeconds(59));
        assertThat(written()).singleElement().satisfies(event -> assertThat(event.getSeries())
                .isNull());

        events.tell(sandbox, 1, FULL, NOW.plusSeconds(60));

        assertThat(written()).singleElement().satisfies(event -> {
            assertThat(event.getSeries().getCount()).isEqualTo(3);
            assertThat(event.getSeries().getLastObservedTime().getTime()).isEqualTo("2026-03-01T10:01:00.000000Z");
        });
    }

    @Tag("slow")
    @Test
    void anotherCauseOrIncarnationIsAnotherEvent() {
        events.tell(sandbox, 1, FULL, NOW);
        events.tell(sandbox, 1, new Notice(false, "Idle", "nobody came"), NOW);
        events.tell(sandbox, 2, FULL, NOW);

        assertThat(written()).hasSize(3);
    }

    @Tag("slow")
    @Test
    void whatAnotherProcessWroteIsCountedOn() {
        events.tell(sandbox, 1, FULL, NOW);
        new SandboxEvents(client).tell(sandbox, 1, FULL, NOW.plusSeconds(5));

        assertThat(written())
                .singleElement()
                .satisfies(event -> assertThat(event.getSeries().getCount()).isEqualTo(2));
    }

    @Tag("slow")
    @Test
    void anEventThatExpiredIsWrittenAnew() {
        events.tell(sandbox, 1, FULL, NOW);
        client.resource(written().getFirst()).delete();

        events.tell(sandbox, 1, FULL, NOW.plusSeconds(7200));

        assertThat(written()).hasSize(1);
    }

    @Tag("slow")
    @Test
    void anEventThatCannotBeWrittenHarmsNobody() {
        server.expect()
                .post()
                .withPath("/apis/events.k8s.io/v1/namespaces/a/events")
                .andReturn(403, "{\"kind\": \"Status\", \"code\": 403}")
                .once();

        assertThatCode(() -> events.tell(sandbox, 1, FULL, NOW)).doesNotThrowAnyException();
        assertThat(written()).isEmpty();

        events.tell(sandbox, 1, FULL, NOW.plusSeconds(1));
        assertThat(written()).hasSize(1);
    }
}
