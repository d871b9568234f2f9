package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GrantedKey;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Code and callers want the MCP servers of another tenant, and of another sandbox of their own: by name, by the names of
 * resources and pods, by what completes and lists names. The controls: the same calls where the servers are for the asker.
 */
class OtherTenantsServersE2E {

    private static final String SERVERS = "sandboxtoolservers.sandglass.dev";
    private static final String TENANT = "e2e-" + GrantedKey.random(3);
    private static final String NAMESPACE = "sandglass-tenant-" + TENANT;
    private static final String BOX = "box";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Tries a list of names; prints those that answered. */
    private static final String TRY = """
            import mcptools
            answered = []
            for name in NAMES:
                try:
                    mcptools.call(name, "Add-Numbers", {"a": 40, "b": 2}, timeout_s=30)
                    answered.append(name)
                except mcptools.NoSuchServer:
                    pass
                try:
                    answered.append(len(mcptools.describe(name)))
                except mcptools.ToolRunnerError:
                    pass  # behind a dot it takes the name of a tool
            print(answered, [one["name"] for one in mcptools.servers() if "foreign" in one["name"]])
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static final KubernetesClient KUBERNETES = INSTALLATION.kubernetes();

    private static @Nullable GrantedKey key;
    private static @Nullable Agent ofAll;
    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        assumeTrue(INSTALLATION.ownNode().isPresent(), "tenants on demand are set up on the project's own cluster");
        key = GrantedKey.ofAllTenants(KUBERNETES, TENANT);
        sandbox = SANDBOXES.start();
        ofAll = key.agent(INSTALLATION);
        Answer started = foreigner().call("sandbox_start", Map.of("sandbox", BOX, "namespace", TENANT));
        assertThat(started.failed()).as(started.text()).isFalse();
        KUBERNETES
                .resource(Attack.json(Map.of(
                        "apiVersion",
                        "sandglass.dev/v1alpha1",
                        "kind",
                        "SandboxToolServer",
                        "metadata",
                        Map.of("name", "foreign-sums", "namespace", NAMESPACE),
                        "spec",
                        Map.of(
                                "cpus",
                                "100m",
                                "stdio",
                                Map.of("command", "python3", "args", List.of("-c", Sums.SERVER))))))
                .create();
    }

    @AfterAll
    static void delete() {
        if (ofAll != null) {
            ofAll.call("sandbox_stop", Map.of("sandbox", BOX, "namespace", TENANT, "delete", true));
            ofAll.close();
        }
        if (key != null) {
            key.close();
        }
        KUBERNETES.namespaces().withName(NAMESPACE).delete();
        KUBERNETES.close();
    }

    private static Agent foreigner() {
        return Optional.ofNullable(ofAll).orElseThrow();
    }

    private static String tried(List<String> names) {
        return "NAMES = " + Attack.json(names) + "\n" + TRY;
    }

    @Test
    void theServerOfAnotherNamespaceIsNotThere() {
        Map<String, Object> call = Map.of(
                "sandbox",
                BOX,
                "namespace",
                TENANT,
                "code",
                "import mcptools; print(mcptools.call('foreign_sums', 'Add-Numbers', {'a': 40, 'b': 2})['sum'])");
        await("the server, for its own tenant")
                .atMost(PATIENCE)
                .until(() -> foreigner().call("sandbox_run_code", call).stdout().equals("42\n"));

        List<String> names = List.of(
                "foreign_sums",
                "foreign-sums",
                "foreign-sums-mcp",
                TENANT + "/foreign_sums",
                NAMESPACE + "/foreign-sums",
                NAMESPACE + ".foreign_sums",
                "../" + NAMESPACE + "/foreign-sums");
        assertThat(agent.python(sandbox, tried(names)).stdout()).isEqualTo("[] []\n");

        Answer listed = agent.call("mcp_list_servers", Map.of("sandbox", sandbox));
        assertThat(listed.text()).doesNotContain("foreign");
        Map<String, Object> there = Map.of("sandbox", BOX, "namespace", TENANT);
        assertThat(foreigner().call("mcp_list_servers", there).text()).contains("foreign_sums");
        assertThat(agent.refusal("mcp_list_servers", there)).contains(TENANT).doesNotContain("foreign");
        assertThat(agent.refusal(
                        "mcp_remove_server", Map.of("sandbox", BOX, "namespace", TENANT, "name", "foreign_sums")))
                .contains(TENANT)
                .doesNotContain("foreign");
        assertThat(agent.completed("namespace", "")).doesNotContain(TENANT);
        assertThat(foreigner().completed("namespace", "")).contains(TENANT);
    }

    /** A sandbox with a server of its own, in a pod of its own, which its code calls. */
    private String startWithServer() {
        String other = SANDBOXES.start();
        Map<String, Object> foreign = Map.of(
                "sandbox",
                other,
                "name",
                "foreign_one",
                "placement",
                "own",
                "command",
                "python3",
                "args",
                List.of("-c", Sums.SERVER));
        Answer registered = agent.call("mcp_register_server", foreign);
        assertThat(registered.failed()).as(registered.text()).isFalse();
        await("the server, for its own sandbox").atMost(PATIENCE).until(() -> agent.python(
                        other, tried(List.of("foreign_one")))
                .stdout()
                .startsWith("['foreign_one', "));
        return other;
    }

    /** One that a caller registered for another sandbox of the same tenant, in a pod of its own. */
    @Test
    void theServerOfAnotherSandboxIsNotThereByAnyOfItsNames() {
        String other = startWithServer();

        String resource = KUBECTL.run(
                "get",
                SERVERS,
                "--selector=sandglass.dev/sandbox=" + other,
                "--output=jsonpath={.items[*].metadata.name}");
        assertThat(resource).isNotBlank().doesNotContain(" ");
        List<String> names = List.of(
                "foreign_one",
                resource,
                resource.replace('-', '_'),
                resource + "-mcp",
                other + "/foreign_one",
                KUBECTL.field(resource + "-mcp", ".metadata.uid"));
        assertThat(agent.python(sandbox, tried(names)).stdout()).isEqualTo("[] []\n");
        // Labels that say it were the other sandbox.
        KUBECTL.run("label", "sandboxes.sandglass.dev", sandbox, "sandglass.dev/sandbox=" + other, "--overwrite");
        assertThat(agent.python(sandbox, tried(names)).stdout()).isEqualTo("[] []\n");

        assertThat(agent.call("mcp_list_servers", Map.of("sandbox", sandbox)).text())
                .doesNotContain("foreign");
        assertThat(agent.completed("sandbox", "")).contains(sandbox, other).doesNotContain(resource + "-mcp");
        assertThat(agent.refusal("mcp_remove_server", Map.of("sandbox", sandbox, "name", "foreign_one")))
                .contains("'foreign_one'");
        assertThat(programOf(sandbox)).contains("Unknown MCP server");
        assertThat(programOf(other)).contains("{'sum': 42}");
    }

    private static String programOf(String where) {
        EndpointSession session = EndpointSession.begin(INSTALLATION, "/mcp/code-mode?output=json&sandbox=" + where);
        try {
            return session.call(
                    "run_python",
                    Map.of(
                            "code",
                            "print((await mcp_foreign_one.Add_Numbers(a=40, b=2))['structuredContent'])",
                            "servers",
                            List.of("foreign_one")));
        } finally {
            session.end();
        }
    }
}
