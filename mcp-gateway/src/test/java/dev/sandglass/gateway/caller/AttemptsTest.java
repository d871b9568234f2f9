package dev.sandglass.gateway.caller;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class AttemptsTest {

    private static final Logger AUDIT = (Logger) LoggerFactory.getLogger("audit");

    private final AtomicLong nanos = new AtomicLong(-5);
    private final Attempts attempts = new Attempts(nanos::get);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void listen() {
        lines.start();
        AUDIT.addAppender(lines);
    }

    @AfterEach
    void leave() {
        AUDIT.detachAppender(lines);
    }

    private List<String> told() {
        return lines.list.stream()
                .map(line -> line.getKeyValuePairs().toString())
                .toList();
    }

    @Test
    void aFloodIsOneLineASecondThatCountsTheRest() {
        for (int i = 0; i < 1_000; i++) {
            attempts.refused("192.0.2." + i % 250, 401);
        }
        nanos.addAndGet(Duration.ofSeconds(1).toNanos() - 1);
        attempts.refused("192.0.2.251", 401);
        assertThat(told()).containsExactly("[source=\"192.0.2.0\", status=\"401\", others=\"0\"]");

        nanos.addAndGet(1);
        attempts.refused("192.0.2.252", 403);
        nanos.addAndGet(Duration.ofHours(1).toNanos());
        attempts.refused("192.0.2.253", 401);

        assertThat(told())
                .containsExactly(
                        "[source=\"192.0.2.0\", status=\"401\", others=\"0\"]",
                        "[source=\"192.0.2.252\", status=\"403\", others=\"1000\"]",
                        "[source=\"192.0.2.253\", status=\"401\", others=\"0\"]");
    }
}
