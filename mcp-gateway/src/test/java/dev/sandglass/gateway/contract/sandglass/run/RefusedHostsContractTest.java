package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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
        gateway.supervisor.meanwhile(() -> gateway.denied.note(uid, "pypi.example:443", "not-allowed"));
        assertThat(denied(run("other", "print hi"))).isEqualTo("[]");
        gateway.supervisor.meanwhile(() -> gateway.denied.note(uid, "pypi.example:443", "not-allowed"));
        JsonNode told = run("box", "print hi");
        assertThat(denied(told)).isEqualTo("[\"pypi.example:443\"]");
        assertThat(TestGateway.text(told))
                .isEqualTo(
                        "hi\n" + FencedText.FENCE + "\n[network] The code asked for \"pypi.example:443\": not in this"
                                + " sandbox's 'allowed_domains' (sandbox_start).");
        assertThat(denied(run("box", "print hi"))).isEqualTo("[]");
    }

    /** Each replica hears of it, and one has told it with the call that met it. */
    @Test
    void whatALaterCallDidNotMeetIsNotToldWithIt() throws Exception {
        gateway.denied.note(uid, "a.example:443", "not-allowed");
        gateway.denied.noteFailure(uid, "b.example:443", "nobody is there");
        JsonNode later = run("box", "print hi");
        assertThat(denied(later)).isEqualTo("[]");
        assertThat(TestGateway.text(later)).isEqualTo("hi");
    }

    @Test
    void whoeverReadsABackgroundExecutionHearsWhatItMet() throws Exception {
        JsonNode begun =
                gateway.call("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"hang\",\"background\":true}");
        gateway.denied.note(uid, "a.example:443", "not-allowed");
        String id = begun.path("structuredContent").path("execution_id").asString();
        JsonNode read = gateway.call("sandbox_get_execution", "{\"execution_id\":\"%s\"}".formatted(id));
        assertThat(denied(read)).isEqualTo("[\"a.example:443\"]");
        assertThat(denied(gateway.call("sandbox_get_execution", "{\"execution_id\":\"%s\"}".formatted(id))))
                .isEqualTo("[]");
    }

    @Test
    void ofCommandsAndPackages() throws Exception {
        gateway.supervisor.meanwhile(() -> gateway.denied.note(uid, "a.example:80", "not-allowed"));
        assertThat(denied(gateway.call("sandbox_run_command", "{\"sandbox\":\"box\",\"command\":\"ls\",\"args\":[]}")))
                .isEqualTo("[\"a.example:80\"]");
        gateway.supervisor.meanwhile(() -> gateway.denied.note(uid, "10.0.0.1:80", "address-denied"));
        JsonNode installed =
                gateway.call("sandbox_install_packages", "{\"sandbox\":\"box\",\"packages\":[\"missing\"]}");
        assertThat(denied(installed)).isEqualTo("[\"10.0.0.1:80\"]");
        assertThat(TestGateway.text(installed))
                .contains("The code asked for \"10.0.0.1:80\": that leads to an address that no sandbox may reach");
    }

    /** Nobody is to open what is open already, and no program is to take them for refused. */
    @Test
    void allowedHostsThatFailAreToldAsSuch() throws Exception {
        gateway.supervisor.meanwhile(() -> {
            gateway.denied.noteFailure(uid, "a.example:443", "DNS has no address for this name");
            gateway.denied.noteFailure(uid, "b.example:80", "no server answered there within 9 s");
            gateway.denied.noteFailure(uid, "c.example:443", "DNS has no address for this name");
        });

        JsonNode told = run("box", "print hi");

        assertThat(TestGateway.text(told))
                .isEqualTo("hi\n" + FencedText.FENCE
                        + "\n[network] Allowed, but not reached: \"a.example:443\", \"c.example:443\""
                        + " (DNS has no address for this name); \"b.example:80\" (no server answered there within 9 s)."
                        + " 'allowed_domains' need no change for that; the host, its port or its server is the cause.");
        assertThat(told.path("structuredContent").path("message").asString())
                .contains("[network] Allowed, but not reached");
        assertThat(denied(told)).isEqualTo("[]");
        assertThat(TestGateway.text(run("box", "print hi"))).isEqualTo("hi");
    }

    @Test
    void aFailureThatComesALittleLaterIsAwaited() throws Exception {
        gateway.denied.setHearing(true);
        gateway.supervisor.afterwards(
                () -> gateway.denied.noteFailure(uid, "late.example:443", "DNS has no address for this name"));
        JsonNode told = run("box", "print OSError: Tunnel connection failed: 502 Bad Gateway - DNS lookup failed");
        assertThat(denied(told)).isEqualTo("[]");
        assertThat(TestGateway.text(told))
                .contains(
                        "[network] Allowed, but not reached: \"late.example:443\" (DNS has no address for this name).");
    }

    @Test
    void oneThatComesALittleLaterIsAwaited() throws Exception {
        gateway.denied.setHearing(true);
        gateway.supervisor.afterwards(() -> gateway.denied.note(uid, "late.example:443", "not-allowed"));
        JsonNode told = run("box", "print OSError: Tunnel connection failed: 403 Forbidden");
        assertThat(denied(told)).isEqualTo("[\"late.example:443\"]");
        assertThat(TestGateway.text(told)).contains("[network] The code asked for \"late.example:443\": not in");
    }
}
