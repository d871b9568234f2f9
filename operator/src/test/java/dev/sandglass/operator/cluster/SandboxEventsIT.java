package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.lifecycle.Notice;
import dev.sandglass.operator.write.SandboxEvents;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** That the API server takes our Events as they are: it is strict about times, names and what may change. */
class SandboxEventsIT {

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    private List<Event> events() {
        return namespace.admin.events().v1().events().inNamespace(namespace.name).list().getItems().stream()
                .filter(event -> "QuotaExceeded".equals(event.getReason()))
                .toList();
    }

    @Test
    void anEventItsSeriesAndOneOfAnotherProcessAreTaken() {
        Instant now = Instant.now();
        // As long as names may be.
        Sandbox sandbox = namespace.create("s".repeat(63), SandboxSpec.DEFAULT.withSuspended(true));
        Notice longest = new Notice(true, "QuotaExceeded", "n".repeat(1024));
        SandboxEvents ours = new SandboxEvents(namespace.admin);

        ours.tell(sandbox, 1, longest, now);
        assertThat(events()).singleElement().satisfies(event -> {
            assertThat(event.getType()).isEqualTo("Warning");
            assertThat(event.getRegarding().getUid())
                    .isEqualTo(sandbox.getMetadata().getUid());
            assertThat(event.getNote()).hasSize(1024);
        });

        ours.tell(sandbox, 1, longest, now.plusSeconds(60));
        assertThat(events())
                .singleElement()
                .satisfies(event -> assertThat(event.getSeries().getCount()).isEqualTo(2));

        new SandboxEvents(namespace.admin).tell(sandbox, 1, longest, now.plusSeconds(90));
        assertThat(events()).singleElement().satisfies(event -> assertThat(
                        event.getSeries().getLastObservedTime().getTime())
                .isNotEqualTo(event.getEventTime().getTime()));
    }

    /** As long as it may be in characters of 1 to 4 bytes, and three thousand of them. */
    @ParameterizedTest
    @CsvSource({"x, 1024", "é, 512", "箱, 341", "🐍, 256", "x, 3000", "é, 3000", "箱, 3000", "🐍, 3000"})
    void aMessageOfAnyLengthAndScriptIsTold(String character, int times) {
        Sandbox sandbox = namespace.create("told", SandboxSpec.DEFAULT.withSuspended(true));
        SandboxStatus full = Statuses.ready("False", Reason.QUOTA_EXCEEDED, character.repeat(times));
        Notice notice = Notice.of(SandboxStatus.UNSEEN, full).orElseThrow();

        new SandboxEvents(namespace.admin).tell(sandbox, 1, notice, Instant.now());

        assertThat(events()).singleElement().satisfies(event -> assertThat(event.getNote())
                .isEqualTo(notice.note()));
    }
}
