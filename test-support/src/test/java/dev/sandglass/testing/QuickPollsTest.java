package dev.sandglass.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuickPollsTest {

    @Test
    void aWaitLooksAtOnceAndThenEveryTenMilliseconds() {
        List<Duration> pauses = new ArrayList<>();
        await().conditionEvaluationListener(look -> pauses.add(look.getPollInterval()))
                .until(() -> pauses.size() >= 2);

        assertThat(pauses).containsExactly(Duration.ZERO, Duration.ofMillis(10), Duration.ofMillis(10));
    }
}
