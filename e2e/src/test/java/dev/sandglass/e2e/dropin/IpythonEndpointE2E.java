package dev.sandglass.e2e.dropin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.Installation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The endpoint {@code /mcp/ipython} in a cluster: a session of MCP is a sandbox, and in it are named IPython sessions. */
class IpythonEndpointE2E {

    private EndpointSession session;

    @BeforeEach
    void begin() {
        session = EndpointSession.begin(Installation.current(), "/mcp/ipython?memory=512Mi");
    }

    @AfterEach
    void end() {
        session.end();
    }

    private String cell(String name, String code) {
        return session.call("execute", Map.of("session", name, "code", code));
    }

    @Test
    void variablesStayInTheirSession() {
        assertThat(cell("two words", "x = 41")).contains("\\\"status\\\":\\\"ok\\\"");
        assertThat(cell("two words", "x + 1")).contains("\\\"result\\\":\\\"42\\\"", "\\\"execution_count\\\":2");
        assertThat(cell("other", "x")).contains("\\\"status\\\":\\\"error\\\"", "NameError");
        assertThat(session.call("list_sessions", Map.of())).contains("two words", "other", "\\\"exec_count\\\":2");
    }

    @Test
    void anyTextIsASessionsName() {
        String name = "a name of a session / with more than 63 characters, é and 🙂, which is listed whole";
        assertThat(cell(name, "x = 41")).contains("\\\"status\\\":\\\"ok\\\"");
        assertThat(cell(name, "x + 1")).contains("\\\"result\\\":\\\"42\\\"");
        assertThat(session.call("list_sessions", Map.of()))
                .contains(name, "\\\"env\\\":\\\"default\\\"", "\\\"python\\\":\\\"/opt/sandglass/bin/python\\\"");
        assertThat(session.call("reset", Map.of("session", name))).contains("{\\\"ok\\\":true}");
        assertThat(session.call("list_sessions", Map.of())).contains("\\\"exec_count\\\":0");
    }

    @Test
    void theLimitOfSessionsNamesTheToolsThatHelp() {
        // A sandbox begins with a session of its own, which is used here like any other.
        for (String name : List.of("default", "1", "2", "3", "4", "5", "6", "7")) {
            assertThat(cell(name, "1")).contains("\\\"status\\\":\\\"ok\\\"");
        }
        assertThat(cell("8", "1"))
                .contains("8 sessions exist already", "list_sessions", "shutdown")
                .doesNotContain("sandbox_");
        session.call("shutdown", Map.of("session", "3"));
        assertThat(cell("8", "1")).contains("\\\"status\\\":\\\"ok\\\"");
    }

    @Test
    void aTimeoutKeepsTheOutputAndTheSession() {
        cell("a", "x = 41");
        String late = session.call(
                "execute",
                Map.of("session", "a", "code", "print('begun'); import time; time.sleep(60)", "timeout_s", 2));

        assertThat(late).contains("\\\"status\\\":\\\"timeout\\\"", "begun");
        assertThat(cell("a", "x + 1")).contains("\\\"result\\\":\\\"42\\\"");
    }

    @Test
    void aResultHasTheFieldsOfTheContract() {
        assertThat(cell("a", "import sys; print('out'); print('err', file=sys.stderr); 6 * 7"))
                .contains(
                        "{\\\"status\\\":\\\"ok\\\",\\\"stdout\\\":\\\"out\\\\n\\\",\\\"stderr\\\":\\\"err\\\\n\\\","
                                + "\\\"result\\\":\\\"42\\\",\\\"error\\\":null,\\\"execution_count\\\":1,\\\"warning\\\":null}");
        assertThat(cell("a", "input()"))
                .contains("\\\"status\\\":\\\"error\\\"")
                .doesNotContain("\"isError\":true");
    }

    @Test
    void anEnvIsBoundToItsSession() {
        assertThat(session.call("execute", Map.of("session", "bare", "code", "1", "env", "nowhere")))
                .contains("\\\"status\\\":\\\"env_error\\\"", "/workspace/envs/nowhere", "in another session")
                .doesNotContain("\"isError\":true");
        cell("own", "1");
        assertThat(session.call("execute", Map.of("session", "own", "code", "2", "env", "data")))
                .contains("session 'own' is bound to env 'default' (/opt/sandglass/bin/python); ignoring requested env"
                        + " 'data'. Use shutdown('own') first to rebind.");
    }

    @Test
    void anInterruptEndsWhatRunsAndKeepsTheSession() throws Exception {
        cell("busy", "x = 41");
        var endless = CompletableFuture.supplyAsync(
                () -> cell("busy", "import time\nwhile True: time.sleep(0.05)"), Thread::startVirtualThread);
        await().atMost(Duration.ofSeconds(60))
                .until(() -> session.call("list_sessions", Map.of()).contains("\\\"status\\\":\\\"busy\\\""));

        assertThat(session.call("interrupt", Map.of("session", "busy"))).contains("{\\\"ok\\\":true}");

        assertThat(endless.get(60, TimeUnit.SECONDS)).contains("\\\"status\\\":\\\"error\\\"", "KeyboardInterrupt");
        assertThat(cell("busy", "x + 1")).contains("\\\"result\\\":\\\"42\\\"");
    }

    @Test
    void aPictureStandsBesideTheText() {
        assertThat(cell("a", "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"))
                .contains("\\\"status\\\":\\\"ok\\\"", "\"type\":\"image\"");
    }

    @Test
    void resetAndShutdownMeanOneSession() {
        cell("a", "x = 41");
        cell("b", "x = 42");

        assertThat(session.call("reset", Map.of("session", "a"))).contains("{\\\"ok\\\":true}");
        assertThat(session.call("shutdown", Map.of("session", "none"))).contains("unknown session 'none'");
        assertThat(cell("a", "x")).contains("NameError");
        assertThat(cell("b", "x")).contains("\\\"result\\\":\\\"42\\\"");
        assertThat(session.call("shutdown", Map.of("session", "b"))).contains("{\\\"ok\\\":true}");
        assertThat(session.call("list_sessions", Map.of())).doesNotContain("\\\"name\\\":\\\"b\\\"");
    }

    @Test
    void theEndOfTheSessionDeletesTheSandbox() {
        cell("a", "x = 41");
        assertThat(session.end()).isEqualTo(204);

        try (var client = Installation.current().kubernetes()) {
            assertThat(client.genericKubernetesResources("sandglass.dev/v1alpha1", "Sandbox")
                            .inAnyNamespace()
                            .list()
                            .getItems())
                    .noneMatch(sandbox -> sandbox.getMetadata().getName().equals(session.id())
                            && sandbox.getMetadata().getDeletionTimestamp() == null);
        }
    }
}
