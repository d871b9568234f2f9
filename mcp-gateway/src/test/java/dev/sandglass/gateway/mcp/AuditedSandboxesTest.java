package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Which sandbox a line of the audit log is about, whatever kind of call it was, and whether the call made it. */
@SuppressWarnings("NullAway.Init")
class AuditedSandboxesTest {

    private static final Logger AUDIT = (Logger) LoggerFactory.getLogger("audit");
    private static final String CELL = "{'session':'s','code':'print 42'}";
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        AUDIT.addAppender(lines);
    }

    @AfterEach
    void stop() {
        AUDIT.detachAppender(lines);
        gateway.close();
    }

    /** The lines without duration, digests and ids, once there are so many: each is written behind its answer. */
    private List<String> lines(int count) {
        await().atMost(Duration.ofSeconds(30)).until(() -> lines.list.size() >= count);
        return lines.list.stream().map(AuditedSandboxesTest::text).toList();
    }

    private static String text(ILoggingEvent line) {
        return line.getKeyValuePairs().stream()
                .filter(pair -> !pair.key.equals("duration_ms")
                        && !pair.key.equals("execution_id")
                        && !pair.key.startsWith("code_"))
                .map(pair -> pair.key + "=" + pair.value)
                .collect(Collectors.joining(" "));
    }

    private EndpointClient at(String path) {
        return EndpointClient.of(gateway, path);
    }

    @Test
    void aCallSaysWhetherItMadeTheSandbox() throws Exception {
        gateway.call("sandbox_start", "{\"sandbox\":\"box\"}");
        gateway.call("sandbox_start", "{\"sandbox\":\"box\"}");
        gateway.call("sandbox_run_code", "{\"sandbox\":\"new\",\"code\":\"print 1\"}");
        gateway.call("sandbox_run_code", "{\"sandbox\":\"new\",\"code\":\"print 1\"}");

        String begin = "caller=alice source=127.0.0.1 contract=sandglass tool=";
        assertThat(lines(4))
                .containsExactlyInAnyOrder(
                        begin + "sandbox_start outcome=ok namespace=default sandbox=box created=true",
                        begin + "sandbox_start outcome=ok namespace=default sandbox=box",
                        begin + "sandbox_run_code outcome=ok namespace=default sandbox=new created=true",
                        begin + "sandbox_run_code outcome=ok namespace=default sandbox=new");
    }

    /** The resource is there, and may cost something. */
    @Test
    void aSandboxThatWasMadeAndDidNotStartIsMadeAllTheSame() throws Exception {
        gateway.sandboxes.startsAnswer(Mono.error(new SandboxProblem.Unavailable("away", null)));

        gateway.call("sandbox_run_code", "{\"sandbox\":\"new\",\"code\":\"print 1\"}");

        assertThat(lines(1).getFirst()).endsWith("outcome=refused namespace=default sandbox=new created=true");
    }

    @Test
    void aCallOfADropInEndpointNamesTheSandboxOfItsSession() throws Exception {
        EndpointClient client = at("/mcp/ipython").initialized();
        client.call("execute", CELL);
        client.call("list_sessions", "{}");

        String sandbox = " namespace=default sandbox=" + client.session().orElseThrow();
        assertThat(lines(2))
                .containsExactlyInAnyOrder(
                        "caller=alice source=127.0.0.1 contract=ipython tool=execute outcome=ok" + sandbox
                                + " created=true",
                        "caller=alice source=127.0.0.1 contract=ipython tool=list_sessions outcome=ok" + sandbox);
    }

    @Test
    void aCallOfADropInEndpointNamesTheSandboxOfItsUrl() throws Exception {
        gateway.sandboxes.addRunning("box");
        at("/mcp/ipybox?sandbox=box").call("execute_ipython_cell", "{'code':'print 42'}");
        at("/mcp/code-mode?sandbox=box&namespace=default").call("run_python", "{'code':'print 42'}");
        at("/mcp/ipython?namespace=other").call("execute", CELL);
        at("/mcp/ipython?sandbox=no%0abox").call("reset", "{'session':'s'}");

        assertThat(lines(4))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).contains("contract=ipybox").endsWith("namespace=default sandbox=box"),
                        line -> assertThat(line)
                                .contains("contract=code-mode")
                                .endsWith("namespace=default sandbox=box"),
                        line -> assertThat(line)
                                .contains("outcome=refused")
                                .endsWith("namespace=other sandbox=ipython-alice"),
                        line -> assertThat(line)
                                .contains("outcome=refused")
                                .endsWith("namespace=default sandbox=no box"));
    }

    private void ask(String method, String params) throws Exception {
        gateway.send(gateway.post(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}".formatted(method, params)));
    }

    @Test
    void aListOfResourcesHasALine() throws Exception {
        gateway.sandboxes.addRunning("box");
        ask("resources/list", "{}");
        ask("resources/list", "{\"cursor\":\"s3cr3t\"}");

        String begin = "caller=alice source=127.0.0.1 contract=sandglass tool=resources/list outcome=";
        assertThat(lines(2)).containsExactlyInAnyOrder(begin + "ok", begin + "refused");
    }

    @Test
    void aCompletionHasALineThatNamesTheSandboxAndNothingThatWasTyped() throws Exception {
        gateway.sandboxes.addRunning("box");
        String path = """
                {"ref":{"type":"ref/resource","uri":"sandbox://{namespace}/{sandbox}/{+path}"},\
                "argument":{"name":"%s","value":"s3cr3t"},"context":{"arguments":{"namespace":"default","sandbox":"%s"}}}""";
        ask("completion/complete", path.formatted("path", "box"));
        ask("completion/complete", path.formatted("no such", "b\\no\\u202ex"));

        String begin = "caller=alice source=127.0.0.1 contract=sandglass tool=completion/complete outcome=";
        assertThat(lines(2))
                .containsExactlyInAnyOrder(
                        begin + "ok namespace=default sandbox=box", begin + "refused namespace=default sandbox=b ox");
    }

    @Test
    void theEndOfASessionHasALine() throws Exception {
        EndpointClient client = at("/mcp/ipython").initialized();
        String id = client.session().orElseThrow();
        assertThat(client.delete().statusCode()).isEqualTo(204);
        assertThat(client.delete().statusCode()).isEqualTo(404);

        String begin = "caller=alice source=127.0.0.1 contract=ipython tool=sessions/delete outcome=";
        assertThat(lines(2)).containsExactlyInAnyOrder(begin + "ok namespace=default sandbox=" + id, begin + "refused");
        assertThat(gateway.meters
                        .get("sandglass.tool.calls")
                        .tag("tool", "sessions/delete")
                        .tag("contract", "ipython")
                        .tag("outcome", "ok")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void faultsOfThemAreCountedFromZero() {
        for (String tool : List.of("resources/list", "completion/complete", "sessions/delete")) {
            assertThat(gateway.meters
                            .get("sandglass.tool.calls")
                            .tag("tool", tool)
                            .tag("outcome", "fault")
                            .timer()
                            .count())
                    .isZero();
        }
    }
}
