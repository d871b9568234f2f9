package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The site's certificate authorities in a sandbox: where the installation has some, usual clients read them. */
class TrustE2E {

    private static final String FOLDER = "/etc/sandglass/ca/";

    private static final String PYTHON = """
            import os, requests, ssl
            print(len(ssl.create_default_context().get_ca_certs()))
            print(requests.Session().merge_environment_settings("https://a.example", {}, None, None, None)["verify"])
            """;

    private static final String NODE = "console.log(require('tls').getCACertificates('extra').length)";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Agent agent = SANDBOXES.agent();

    private static boolean ofTheSite(KubernetesClient client) {
        return client
                .apps()
                .deployments()
                .inNamespace(Installation.NAMESPACE)
                .withName("sandglass-operator")
                .require()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getEnv()
                .stream()
                .map(EnvVar::getName)
                .anyMatch("TRUSTED_CA_FILE"::equals);
    }

    private List<String> lines(String sandbox, String command, String... arguments) {
        Answer answer = agent.command(sandbox, command, arguments);
        assertThat(answer.number("exit_code")).as(answer.text()).isZero();
        return answer.stdout().lines().toList();
    }

    @Test
    void usualClientsReadThem() {
        String sandbox = SANDBOXES.start();
        try (KubernetesClient client = Installation.current().kubernetes()) {
            if (ofTheSite(client)) {
                ConfigMap map = client.configMaps()
                        .inNamespace(Tenant.NAMESPACE)
                        .withName("sandglass-trusted-ca")
                        .require();
                clientsRead(sandbox, certificates(map, "bundle.crt"), certificates(map, "site.crt"));
            } else {
                assertThat(lines(sandbox, "sh", "-c", "env")).noneMatch(line -> line.contains(FOLDER));
            }
        }
    }

    private void clientsRead(String sandbox, int all, int site) {
        List<String> python = lines(sandbox, "python3", "-c", PYTHON);
        assertThat(Integer.parseInt(python.getFirst())).isBetween(all / 2, all);
        assertThat(python.getLast()).isEqualTo(FOLDER + "bundle.crt");
        assertThat(Integer.parseInt(lines(sandbox, "node", "-e", NODE).getFirst()))
                .isBetween(1, site);
        assertThat(lines(sandbox, "npm", "config", "get", "cafile")).containsExactly(FOLDER + "bundle.crt");
        assertThat(lines(sandbox, "pip", "config", "list")).anyMatch(line -> line.contains(FOLDER + "bundle.crt"));
        assertThat(lines(sandbox, "sh", "-c", "test -s " + FOLDER + "bundle.p12 && echo $JAVA_TOOL_OPTIONS"))
                .anyMatch(line -> line.contains("trustStore=" + FOLDER + "bundle.p12"));
        // Read-only, whatever the code would like to trust.
        assertThat(lines(sandbox, "sh", "-c", "echo x > " + FOLDER + "bundle.crt 2>/dev/null || echo refused"))
                .containsExactly("refused");
    }

    private static int certificates(ConfigMap map, String key) {
        String pem = Objects.requireNonNull(map.getData().get(key), key);
        return pem.split("-----BEGIN CERTIFICATE-----", -1).length - 1;
    }
}
