package dev.sandglass.egress.audit;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.sandglass.egress.proxy.Origin;
import dev.sandglass.egress.proxy.Peer;
import dev.sandglass.egress.proxy.Stage;
import io.micrometer.core.instrument.Meter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** One line per request says who, where to, why and how much, and nothing of what was said. */
@SuppressWarnings("NullAway.Init")
class AuditTest {

    private final List<Map<String, String>> lines = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("audit");
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getKeyValuePairs().stream()
                    .collect(Collectors.toMap(pair -> pair.key, pair -> String.valueOf(pair.value))));
        }
    };
    private Stage stage;

    @BeforeEach
    void open() throws InterruptedException {
        logger.setLevel(Level.INFO);
        appender.start();
        logger.addAppender(appender);
        stage = new Stage();
    }

    @AfterEach
    void close() throws IOException {
        logger.detachAppender(appender);
        logger.setLevel(null);
        stage.close();
    }

    private Map<String, String> line() {
        await().until(() -> lines.size() == 1);
        return lines.getFirst();
    }

    @Test
    void aTunnel() throws IOException {
        Origin origin = stage.origin(Origin.ECHO);
        String target = "127.0.0.1:" + origin.port();
        stage.clients.put(SANDBOX, "one", target);
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            peer.say("0123456789");
            assertThat(peer.hear(10)).isEqualTo("0123456789");
        }
        assertThat(line())
                .containsEntry("sandbox", "name-of-one")
                .containsEntry("namespace", "tenant")
                .containsEntry("sandbox_uid", "one")
                .containsEntry("host", "127.0.0.1")
                .containsEntry("port", String.valueOf(origin.port()))
                .containsEntry("verdict", "allowed")
                .containsEntry("rule", target)
                .containsEntry("end", "closed")
                .containsEntry("bytes_up", "10")
                .containsEntry("bytes_down", "10")
                .containsOnlyKeys(
                        "sandbox",
                        "namespace",
                        "sandbox_uid",
                        "host",
                        "port",
                        "verdict",
                        "rule",
                        "end",
                        "bytes_up",
                        "bytes_down",
                        "duration_ms");
        assertThat(Long.parseLong(String.valueOf(line().get("duration_ms")))).isBetween(0L, 60_000L);
    }

    @Test
    void aDenial() throws IOException {
        stage.clients.put(SANDBOX, "one", "allowed.example");
        stage.answer(
                SANDBOX,
                "GET http://denied.example/path?query HTTP/1.1\r\nHost: denied.example\r\nCookie: biscuit\r\n\r\n");
        assertThat(line())
                .containsEntry("host", "denied.example")
                .containsEntry("verdict", "not-allowed")
                .containsEntry("end", "refused")
                .doesNotContainKey("rule");
        assertThat(line().toString()).doesNotContain("path", "query", "biscuit");
    }

    @Test
    void aStranger() throws IOException {
        stage.refusal(STRANGER, "allowed.example:443");
        assertThat(line()).containsOnly(Map.entry("source", STRANGER), Map.entry("verdict", "unknown-sandbox"));
    }

    @Test
    void noMeterSaysWhose() throws IOException {
        stage.clients.put(SANDBOX, "one", "allowed.example");
        stage.refusal(SANDBOX, "denied.example:443");
        await().until(() -> stage.count("not-allowed", "refused") == 1);
        assertThat(stage.meters.getMeters())
                .flatExtracting(meter -> meter.getId().getTags())
                .extracting(tag -> tag.getKey())
                .containsOnly("outcome", "end", "direction");
        assertThat(stage.meters.getMeters())
                .extracting(Meter::getId)
                .noneMatch(id -> id.toString().contains("one") && id.toString().contains("denied"));
    }
}
