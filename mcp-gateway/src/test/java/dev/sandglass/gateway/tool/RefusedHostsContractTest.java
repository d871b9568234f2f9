package dev.sandglass.gateway.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.CutOutput;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Refused hosts in answers: those of the sandbox, once, with what to do. */
@SuppressWarnings("NullAway.Init")
class RefusedHostsContractTest {

    private TestGateway gateway;
    private String uid;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        uid = gateway.sandboxes.addRunning("box").uid();
        gateway.sandboxes.addRunning("other");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode run(String sandbox, String code) throws Exception {
        return gateway.call("sandbox_run_code", "{\"sandbox\":\"%s\",\"code\":\"%s\"}".formatted(sandbox, code));
    }

    private static String denied(JsonNode result) {
        return result.path("structuredContent").path("denied_hosts").toString();
    }

    @Test
    void toldOnceAndToNobodyElse() throws Exception {
        gateway.denied.note(uid, "pypi.example:443", "not-allowed");
        assertThat(denied(run("other", "print hi"))).isEqualTo("[]");
        JsonNode told = run("box", "print hi");
        assertThat(denied(told)).isEqualTo("[\"pypi.example:443\"]");
        assertThat(TestGateway.text(told))
                .isEqualTo(
                        "hi\n[network] Before this call it refused: pypi.example:443. To reach it, call sandbox_start"
                                + " for this sandbox with 'allowed_domains' in 'config' that lists it besides what is allowed now"
                                + " (spec.allowedDomains of the resource); it counts at once.");
        assertThat(denied(run("box", "print hi"))).isEqualTo("[]");
    }

    @Test
    void ofCommandsAndPackages() throws Exception {
        gateway.denied.note(uid, "a.example:80", "not-allowed");
        assertThat(denied(gateway.call("sandbox_run_command", "{\"sandbox\":\"box\",\"command\":\"ls\",\"args\":[]}")))
                .isEqualTo("[\"a.example:80\"]");
        gateway.denied.note(uid, "10.0.0.1:80", "address-denied");
        JsonNode installed =
                gateway.call("sandbox_install_packages", "{\"sandbox\":\"box\",\"packages\":[\"missing\"]}");
        assertThat(denied(installed)).isEqualTo("[\"10.0.0.1:80\"]");
        assertThat(TestGateway.text(installed))
                .contains("leads to an address that no sandbox may reach: 10.0.0.1:80. No entry opens it")
                .doesNotContain("allowed_domains' in 'config'");
    }

    /** Nobody is to open what is open already, and no program is to take them for refused. */
    @Test
    void allowedHostsThatFailAreToldAsSuch() throws Exception {
        gateway.denied.noteFailure(uid, "a.example:443", "DNS has no address for this name");
        gateway.denied.noteFailure(uid, "b.example:80", "no server answered there within 9 s");
        gateway.denied.noteFailure(uid, "c.example:443", "DNS has no address for this name");

        JsonNode told = run("box", "print hi");

        assertThat(TestGateway.text(told))
                .isEqualTo("hi\n[network] Allowed, but not reached before this call: a.example:443, c.example:443"
                        + " (DNS has no address for this name); b.example:80 (no server answered there within 9 s)."
                        + " Check host and port, or try again later; 'allowed_domains' need no change for that.");
        assertThat(told.path("structuredContent").path("message").asString())
                .contains("[network] Allowed, but not reached before");
        assertThat(denied(told)).isEqualTo("[]");
        assertThat(TestGateway.text(run("box", "print hi"))).isEqualTo("hi");
    }

    @Test
    void aFailureThatComesALittleLaterIsAwaitedAndStandsBehindTheRefused() throws Exception {
        gateway.denied.setHearing(true);
        gateway.denied.note(uid, "a.example:80", "not-allowed");
        CompletableFuture<Void> late = CompletableFuture.runAsync(() -> {
            await().pollInterval(Duration.ofMillis(1)).until(() -> !gateway.supervisor.verbs.isEmpty());
            gateway.denied.noteFailure(uid, "late.example:443", "DNS has no address for this name");
        });
        JsonNode told = run("box", "print OSError: Tunnel connection failed: 502 Bad Gateway - DNS lookup failed");
        late.join();
        assertThat(denied(told)).isEqualTo("[\"a.example:80\"]");
        assertThat(TestGateway.text(told))
                .contains("[network] Before this call it refused: a.example:80. To reach it")
                .contains("at once. Allowed, but not reached: late.example:443 (DNS has no address for this name).");
    }

    @Test
    void oneThatComesALittleLaterIsAwaited() throws Exception {
        gateway.denied.setHearing(true);
        CompletableFuture<Void> late = CompletableFuture.runAsync(() -> {
            await().pollInterval(Duration.ofMillis(1)).until(() -> !gateway.supervisor.verbs.isEmpty());
            gateway.denied.note(uid, "late.example:443", "not-allowed");
        });
        JsonNode told = run("box", "print OSError: Tunnel connection failed: 403 Forbidden");
        late.join();
        assertThat(denied(told)).isEqualTo("[\"late.example:443\"]");
        assertThat(TestGateway.text(told)).contains("[network] The network refused: late.example:443.");
    }

    @Test
    void nobodyWaitsWithoutReason() {
        ExecutionResult plain = printed("the answer is 403");
        ExecutionResult complaint = printed("curl: (56) CONNECT tunnel failed, response 403");
        DeniedHosts hosts = new DeniedHosts();
        DeniedNotice notice = new DeniedNotice(hosts);
        // Nobody tells.
        assertThat(notice.told(uid, complaint, hosts.now()).toFuture()).isDone();
        hosts.setHearing(true);
        assertThat(notice.told(uid, plain, hosts.now()).toFuture()).isDone();
        assertThat(notice.told(uid, complaint, hosts.now()).toFuture())
                .succeedsWithin(Duration.ofSeconds(10))
                .isEqualTo(DeniedNotice.Told.NONE);
        long since = hosts.now();
        hosts.note(uid, "known.example:443", "not-allowed");
        assertThat(notice.told(uid, complaint, since).toFuture()).isDone();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "curl: (56) CONNECT tunnel failed, response 403 | true",
                "OSError('Tunnel connection failed: 403 Forbidden') | true",
                "Proxy tunneling failed: ForbiddenUnable to establish SSL connection. | true",
                "Proxy response (403) !== 200 when HTTP Tunneling | true",
                "curl: (56) CONNECT tunnel failed, response 502 | true",
                "Proxy tunneling failed: Bad Gateway - DNS lookup failedUnable to establish SSL connection. | true",
                "The egress proxy refused this request. | true",
                "The egress proxy did not reach this host. | true",
                "403 | false",
                "a tunnel through a mountain | false",
            })
    void complaints(String text, boolean complains) {
        assertThat(DeniedNotice.complainsOfAProxy(printed(text))).isEqualTo(complains);
    }

    private static ExecutionResult printed(String text) {
        return new ExecutionResult(
                ExecutionStatus.OK,
                ExecutionId.random("default", "uid-box", 1),
                text,
                "",
                null,
                null,
                null,
                List.of(),
                0,
                null,
                null,
                0,
                CutOutput.NONE,
                0,
                0,
                false,
                "",
                null,
                0);
    }
}
