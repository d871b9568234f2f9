package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Registries;
import dev.sandglass.e2e.support.Tenant;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Programs that the image does not have, brought from this machine, with an allowed host and with another. */
class EgressCarriedE2E {

    private static final String DENIED = "denied.example";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static String allowed = "";
    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        assumeTrue(new EgressProxyPods(TENANT.kubernetes()).isInstalled(), "egressProxy.enabled is false");
        sandbox = SANDBOXES.start();
        allowed = Registries.knownTo(SANDBOXES.agent(), sandbox).pythonIndex();
        KUBECTL.patch(sandbox, "{\"allowedDomains\":" + Attack.json(List.of(allowed)) + "}");
        Registries.awaitAllowed(SANDBOXES.agent(), sandbox, List.of(allowed));
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    /** Carries a program into the sandbox; how it is called there. */
    private static String carry(Path within, String name, String where) throws IOException, InterruptedException {
        Optional<CarriedProgram> found = CarriedProgram.found(within, name, where);
        assumeTrue(found.isPresent(), "this machine has no " + name);
        CarriedProgram program = found.orElseThrow();
        String pod = TENANT.podOf(sandbox).getMetadata().getName();
        KUBECTL.run("cp", program.folder().toString(), pod + ":/workspace/" + name);
        return program.call();
    }

    private String shell(String script) {
        Answer answer = agent.command(sandbox, "bash", "-c", script);
        return answer.stdout() + answer.stderr();
    }

    /** Its TLS reads no variable that names authorities, so the test names the file, as docs/tls.md says. */
    @Test
    void wget(@TempDir Path folder) throws IOException, InterruptedException {
        String wget = carry(folder, "wget", "command -v wget")
                + " --tries=1 --server-response --output-document=/dev/null ${SSL_CERT_FILE:+--ca-certificate=$SSL_CERT_FILE}";

        assertThat(shell(wget + " https://" + allowed + "/")).containsPattern("HTTP/1\\.[01] [2-4]\\d\\d");
        assertThat(shell(wget + " https://" + DENIED + "/"))
                .contains("Proxy tunneling failed: Forbidden")
                .doesNotContain("HTTP/1.1 2");
        assertThat(shell(wget + " http://" + DENIED + "/")).contains("403").doesNotContain("HTTP/1.1 2");
    }

    /** The host has no crates, and says so itself; what is denied never gets that far. */
    @Test
    void cargo(@TempDir Path folder) throws IOException, InterruptedException {
        String cargo = carry(folder, "cargo", "rustup which cargo 2>/dev/null || command -v cargo")
                + " search --limit 1 --index sparse+https://HOST/ any";

        assertThat(shell("CARGO_HOME=/workspace/of-cargo " + cargo.replace("HOST", allowed)))
                .containsPattern("404|config\\.json")
                .doesNotContain("CONNECT tunnel failed", "403");
        assertThat(shell("CARGO_HOME=/workspace/of-cargo " + cargo.replace("HOST", DENIED)))
                .contains("403");
    }
}
