package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.slf4j.event.KeyValuePair;

/** One line per call, in which neither code nor output nor keys stand. */
class AuditLogTest {

    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        ROOT.addAppender(lines);
    }

    @AfterEach
    void stop() {
        ROOT.detachAppender(lines);
        gateway.close();
    }

    /** It is written behind the answer. */
    private void awaitLine() {
        await().until(() ->
                lines.list.stream().anyMatch(line -> line.getLoggerName().equals("audit")));
    }

    private static String text(ILoggingEvent line) {
        List<KeyValuePair> pairs = line.getKeyValuePairs();
        return line.getFormattedMessage()
                + (pairs == null ? Stream.<KeyValuePair>empty() : pairs.stream())
                        .map(pair -> " " + pair.key + "=" + pair.value)
                        .collect(Collectors.joining());
    }

    @Test
    void noNameOfACallerBreaksALineOrHidesInIt() throws Exception {
        gateway.call(
                "sandbox_read_file",
                "{\"sandbox\":\"box\",\"namespace\":\"a\\u2028b\\u009b\",\"path\":\"a\\u001b[2J\\n{\\u202e\\u0085b\\u200b\"}");
        awaitLine();

        assertThat(lines.list.stream().filter(line -> line.getLoggerName().equals("audit")))
                .singleElement()
                .extracting(AuditLogTest::text)
                .asString()
                .contains("namespace=a b", "path=a [2J { b")
                .matches("[\\x20-\\x7e]+");
    }

    @Test
    void aCallIsToldByDigestAndOutcome() throws Exception {
        gateway.call("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"print s3cr3t\"}");
        awaitLine();

        assertThat(lines.list.stream().filter(line -> line.getLoggerName().equals("audit")))
                .singleElement()
                .extracting(AuditLogTest::text)
                .asString()
                .contains(
                        "caller=alice",
                        "source=127.0.0.1",
                        "contract=sandglass",
                        "tool=sandbox_run_code",
                        "sandbox=box",
                        "outcome=ok",
                        "code_bytes=12")
                .contains("code_sha256=", "execution_id=default.uid-box.1.", "duration_ms=");
        assertThat(lines.list).noneMatch(line -> text(line).contains("s3cr3t"));
        assertThat(lines.list).noneMatch(line -> text(line).contains(TestGateway.KEY));
        assertThat(gateway.meters
                        .get("sandglass.tool.calls")
                        .tag("outcome", "ok")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void aWrongKeyIsToldByWhereItCameFrom() throws Exception {
        gateway.send(gateway.post("{}").setHeader("Authorization", "Bearer s3cr3t"));

        assertThat(lines.list.stream().filter(line -> line.getLoggerName().equals("audit")))
                .singleElement()
                .extracting(AuditLogTest::text)
                .isEqualTo("request refused source=127.0.0.1 status=401 others=0");
    }

    @Test
    void aFileIsToldByItsPathAndDigest() throws Exception {
        gateway.call("sandbox_write_file", "{\"sandbox\":\"box\",\"path\":\"a/b\",\"content\":\"s3cr3t\"}");
        awaitLine();

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .anyMatch(line -> line.contains("path=a/b") && line.contains("content_bytes=6"))
                .noneMatch(line -> line.contains("s3cr3t"));
    }

    @Test
    void aResourceIsToldAsAFileToolIsByItsPath() throws Exception {
        gateway.supervisor.files.put("a b", "s3cr3t");
        String read = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"%s\"}}";

        gateway.send(gateway.post(read.formatted("sandbox://default/box/a%20b")));
        gateway.send(gateway.post(read.formatted("sandbox://other/box/a%0a%1b%5B2J")));
        gateway.send(gateway.post(read.formatted("sandbox://default/box/..")));
        await().until(() -> lines.list.stream()
                        .filter(line -> line.getLoggerName().equals("audit"))
                        .count()
                == 3);

        assertThat(lines.list.stream().filter(line -> line.getLoggerName().equals("audit")))
                .extracting(AuditLogTest::text)
                .allMatch(line -> line.contains("caller=alice source=127.0.0.1 contract=sandglass tool=resources/read"))
                .anyMatch(
                        line -> line.contains("outcome=ok") && line.endsWith("namespace=default sandbox=box path=a b"))
                .anyMatch(line ->
                        line.contains("outcome=refused") && line.endsWith("namespace=other sandbox=box path=a [2J"))
                .anyMatch(line -> line.contains("outcome=refused") && !line.contains("namespace="))
                .noneMatch(line -> line.contains("s3cr3t"));
        assertThat(gateway.meters
                        .get("sandglass.tool.calls")
                        .tag("tool", "resources/read")
                        .tag("outcome", "refused")
                        .timer()
                        .count())
                .isEqualTo(2);
        assertThat(gateway.meters
                        .get("sandglass.tool.calls")
                        .tag("tool", "resources/read")
                        .tag("outcome", "fault")
                        .timer()
                        .count())
                .isZero();
    }

    @Test
    void packagesAreToldByDigestForAnAddressMayHoldAPassword() throws Exception {
        String arguments = "{\"sandbox\":\"box\",\"packages\":[\"https://u:s3cr3t@example.com/a.whl\"]}";
        gateway.call("sandbox_install_packages", arguments);
        awaitLine();

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .anyMatch(line -> line.contains("packages_sha256=") && line.contains("packages_bytes=38"))
                .noneMatch(line -> line.contains("s3cr3t"));
    }

    @Test
    void anMcpServerIsToldByItsNameAndDigests() throws Exception {
        var all = EndpointClient.of(gateway, "/mcp?tools=all");
        all.call(
                "mcp_register_server",
                "{'sandbox':'box','name':'web','command':'npx','args':['s3cr3t'],'env':{'KEY':'s3cr3t'}}");
        all.call(
                "mcp_register_server",
                "{'sandbox':'box','name':'far','url':'https://a.example.com/s3cr3t','headers':['A: s3cr3t']}");
        EndpointClient.of(gateway, "/mcp/ipybox?sandbox=box")
                .call("register_mcp_server", "{'server_name':'own','server_params':{'command':'s3cr3t'}}");
        await().until(() -> lines.list.stream()
                        .filter(line -> line.getLoggerName().equals("audit"))
                        .count()
                == 3);

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .anyMatch(line ->
                        line.contains("name=web") && line.contains("args_sha256=") && line.contains("outcome=ok"))
                .anyMatch(line -> line.contains("name=far") && line.contains("url_bytes=28"))
                .anyMatch(line -> line.contains("server_name=own") && line.contains("contract=ipybox"))
                .noneMatch(line -> line.contains("s3cr3t"));
    }

    @Test
    void aRefusalIsToldAsWell() throws Exception {
        gateway.call("sandbox_run_command", "{\"sandbox\":\"no\\nbody\",\"command\":\"rm\"}");
        awaitLine();

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .anyMatch(line -> line.contains("outcome=refused") && line.contains("sandbox=no body"));
    }

    /** Of a command line that is given in parts, the program's name alone would tell nothing. */
    @Test
    void aCommandIsToldByTheDigestOfAllThatItGets() throws Exception {
        String arguments = "{\"sandbox\":\"box\",\"command\":\"sh\",\"args\":[\"-c\",\"s3cr3t\"],\"stdin\":\"s3cr3t\"}";
        gateway.call("sandbox_run_command", arguments);
        awaitLine();

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .anyMatch(line -> line.contains("command_bytes=2")
                        && line.contains("args_sha256=")
                        && line.contains("args_bytes=15")
                        && line.contains("stdin_bytes=6"))
                .noneMatch(line -> line.contains("s3cr3t"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\"namespace\":null,", "\"namespace\":\"\",", "\"namespace\":\"default\","})
    void theTenantIsToldAlsoOfWhoLeftItOut(String namespace) throws Exception {
        gateway.call("sandbox_stop", "{%s\"sandbox\":\"box\",\"delete\":true}".formatted(namespace));
        awaitLine();

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .anyMatch(line -> line.contains("namespace=default sandbox=box delete=true"));
    }

    @Test
    void anExecutionIsOfTheTenantInItsIdAndOfNoOther() throws Exception {
        gateway.call("sandbox_get_execution", "{\"execution_id\":\"other.uid-box.1.aaaaaaaaaaaaaaaa\"}");
        awaitLine();

        assertThat(lines.list)
                .extracting(AuditLogTest::text)
                .noneMatch(line -> line.contains("tool=sandbox_get_execution") && line.contains("namespace="));
    }

    /** Prometheus sees no increase in a counter that begins with its first event: the alert would miss that one. */
    @Test
    void faultsAreCountedFromZero() {
        assertThat(gateway.meters
                        .find("sandglass.tool.calls")
                        .tag("outcome", "fault")
                        .timers())
                .hasSizeGreaterThan(10)
                .anyMatch(timer -> "mcp_register_server".equals(timer.getId().getTag("tool")))
                .allMatch(timer -> timer.count() == 0);
    }
}
