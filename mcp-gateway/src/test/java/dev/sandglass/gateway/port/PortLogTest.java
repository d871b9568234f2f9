package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What is written of a request to a port that fails: whose sandbox and which port, and nothing that was sent. */
class PortLogTest {

    private static final Logger OURS = (Logger) LoggerFactory.getLogger("dev.sandglass");
    private static final Logger AUDIT = (Logger) LoggerFactory.getLogger("audit");

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final PortGateway gateway = new PortGateway();
    private final Upstream upstream = Upstream.answering("s3cr3t-answer, which is no HTTP\r\n\r\n");
    private RunningSandbox box;

    @BeforeEach
    void start() {
        box = gateway.box("uid-1", upstream.port());
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        OURS.addAppender(lines);
        AUDIT.addAppender(lines);
    }

    @AfterEach
    void stop() throws Exception {
        OURS.detachAppender(lines);
        AUDIT.detachAppender(lines);
        upstream.close();
        gateway.close();
    }

    /** Of this test's port, once the audit log knows it: that is written behind the answer. */
    private List<String> told(String message) {
        await().until(() -> !written("port request").isEmpty());
        return written(message);
    }

    private List<String> written(String message) {
        return lines.list.stream()
                .filter(line -> line.getMessage().equals(message))
                .map(line -> String.valueOf(line.getKeyValuePairs()))
                .filter(line -> line.contains("port=\"%d\"".formatted(upstream.port())))
                .toList();
    }

    private String whose() {
        return "namespace=\"default\", sandbox=\"box\", port=\"%d\"".formatted(upstream.port());
    }

    @Test
    void aFailureNamesTheSandboxAndThePort() throws Exception {
        assertThat(gateway.send(gateway.request(PortGateway.path(upstream.port(), "/")))
                        .statusCode())
                .isEqualTo(502);

        assertThat(told("A request to a sandbox's port failed"))
                .singleElement()
                .asString()
                .contains(whose());
        assertThat(told("port request"))
                .singleElement()
                .asString()
                .contains("caller=\"alice\"", whose(), "by_link=\"false\"", "status=\"502\"");
    }

    @Test
    void ofWhatWasSentNothingIsWritten() throws Exception {
        String link = gateway.link(box);
        HttpRequest.Builder request = gateway.anonymous(link + "s3cr3t-path?q=s3cr3t-query")
                .header("X-Sandbox-Token", "s3cr3t-header")
                .POST(HttpRequest.BodyPublishers.ofString("s3cr3t-body"));
        assertThat(gateway.send(request).statusCode()).isEqualTo(502);

        assertThat(told("A request to a sandbox's port failed"))
                .singleElement()
                .asString()
                .contains(whose());
        String key = Objects.requireNonNull(PortPath.parse(link).orElseThrow().link());
        assertThat(lines.list.stream()
                        .flatMap(line -> Stream.of(
                                line.getFormattedMessage(),
                                String.valueOf(line.getKeyValuePairs()),
                                String.valueOf(line.getThrowableProxy()))))
                .isNotEmpty()
                .noneMatch(text -> text.contains("s3cr3t") || text.contains(key));
    }
}
