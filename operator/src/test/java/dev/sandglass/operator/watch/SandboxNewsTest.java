package dev.sandglass.operator.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.cluster.Statuses;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Which changes of a sandbox begin a round. */
class SandboxNewsTest {

    private static Sandbox sandbox() {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);
        sandbox.getMetadata().setGeneration(1L);
        sandbox.getMetadata().setAnnotations(Map.of(SandboxLabels.GIVEN_NAME, "Demo"));
        return sandbox;
    }

    private static boolean isNews(Consumer<Sandbox> change) {
        Sandbox after = sandbox();
        change.accept(after);
        return SandboxWatches.isNews(after, sandbox());
    }

    @Test
    void ordersAre() {
        assertThat(isNews(after -> after.getMetadata().setGeneration(2L))).isTrue();
        assertThat(isNews(after -> after.getMetadata().setDeletionTimestamp("2026-03-01T10:00:00Z")))
                .isTrue();
        assertThat(isNews(after -> after.getMetadata().setAnnotations(Map.of(SandboxLabels.WAKE, "now"))))
                .isTrue();
        assertThat(isNews(after -> after.getMetadata().setUid("another's"))).isTrue();
    }

    @Test
    void ourOwnWritesAndWhatConcernsOthersAreNot() {
        assertThat(isNews(after -> {})).isFalse();
        assertThat(isNews(after -> after.setStatus(Statuses.suspended(Reason.IDLE))))
                .isFalse();
        assertThat(isNews(after -> after.getMetadata().setLabels(Map.of("team", "a"))))
                .isFalse();
        assertThat(isNews(after -> after.getMetadata().setAnnotations(Map.of("team", "a"))))
                .isFalse();
        assertThat(isNews(after -> after.getMetadata().setResourceVersion("7"))).isFalse();
    }
}
