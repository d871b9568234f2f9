package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A network that hides sandboxes' addresses: to the proxy, who comes from the node's address is nobody. */
class EgressStrangerE2E {

    /** For a known sandbox the answer is that its list has no such name. */
    private static final String ASK = "exec 3<>/dev/tcp/%s/%d; printf 'CONNECT denied.example:443"
            + " HTTP/1.1\\r\\n%s\\r\\n' >&3; timeout 20 head -n 1 <&3";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final EgressProxyPods PROXY = new EgressProxyPods(TENANT.kubernetes());
    private static String sandbox = "";

    @BeforeAll
    static void start() {
        assumeTrue(PROXY.isInstalled(), "egressProxy.enabled is false");
        assumeTrue(INSTALLATION.ownNode().isPresent(), "only the project's own node can be entered");
        sandbox = SANDBOXES.start(Map.of("allowed_domains", List.of("example.com")));
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static String fromTheNode(String fields) {
        return INSTALLATION
                .ownNode()
                .orElseThrow()
                .run("bash", "-c", ASK.formatted(PROXY.serviceAddress(), EgressProxyPods.PORT, fields));
    }

    private static String fromTheSandbox(String fields) {
        return SANDBOXES
                .agent()
                .command(sandbox, "bash", "-c", ASK.formatted(PROXY.serviceAddress(), EgressProxyPods.PORT, fields))
                .stdout();
    }

    @Test
    void theNodesAddressIsNobodys() {
        assertThat(fromTheNode("")).contains("407");
        assertThat(fromTheSandbox("")).as("control").contains("403");
    }

    @Test
    void norDoesACredentialMakeItSomebodys() {
        String credential = SANDBOXES
                .agent()
                .python(
                        sandbox,
                        "import os, base64, urllib.parse as u; p = u.urlsplit(os.environ['https_proxy']);"
                                + " print(base64.b64encode(f'{p.username}:{p.password}'.encode()).decode())")
                .stdout()
                .strip();
        String field = "Proxy-Authorization: Basic " + credential + "\\r\\n";

        assertThat(fromTheNode(field)).contains("407");
        assertThat(fromTheSandbox(field)).as("control").contains("403");
    }
}
