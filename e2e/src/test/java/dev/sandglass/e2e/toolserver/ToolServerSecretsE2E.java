package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.ComponentLogs;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared MCP servers whose credentials come from Secrets: they work, and what the Secret holds stays in the server's pod. */
class ToolServerSecretsE2E {

    private static final String SECRET = "sandglass-mcp-e2e";
    private static final String LATE_SECRET = "sandglass-mcp-e2e-late";
    private static final String TOKEN = "credential-5b1e90ac77";

    /** The kubelet tries a mount again after up to two minutes, and the operator looks again sooner. */
    private static final Duration MOUNTED = Duration.ofMinutes(4);

    private static final Duration RESTARTED = Duration.ofMinutes(2);

    /** Prints the token, as a careless server does, and ends. */
    private static final String BLABS = """
            import os, sys
            sys.stderr.write("cannot log in with " + os.environ["TOKEN"] + "\\n")
            sys.exit(3)
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final SharedServer SUMS = new SharedServer(KUBECTL, "secret-sums");
    private static final SharedServer WEB = new SharedServer(KUBECTL, "secret-web");
    private static final SharedServer CARELESS = new SharedServer(KUBECTL, "secret-careless");
    private static final SharedServer LATE = new SharedServer(KUBECTL, "secret-late");

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        store(SECRET, Map.of("token", TOKEN, "header", "Bearer " + TOKEN + "\n"));
        sandbox = SANDBOXES.start();
        SUMS.applyKeyed("GREETING", SECRET, "token");
    }

    @AfterAll
    static void delete() {
        List.of(SUMS, WEB, CARELESS, LATE).forEach(SharedServer::delete);
        KUBECTL.run("delete", "secret", SECRET, LATE_SECRET, "--ignore-not-found");
        TENANT.close();
    }

    private static void store(String secret, Map<String, String> entries) {
        var data = new TreeMap<String, String>();
        entries.forEach((key, value) ->
                data.put(key, Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8))));
        KUBECTL.apply(Attack.json(
                Map.of("apiVersion", "v1", "kind", "Secret", "metadata", Map.of("name", secret), "data", data)));
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private String printed(String code) {
        Answer answer = agent.python(sandbox, code);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer.stdout();
    }

    /** What {@code greet} of a server answers, or the name and the text of what it raised. */
    private String greeted(String server) {
        return printed("""
                import mcptools
                try:
                    print(mcptools.call("%s", "greet", {"name": "Ann"}))
                except mcptools.ToolRunnerError as error:
                    print(type(error).__name__, error)
                """.formatted(server));
    }

    private String listed() {
        return agent.call("mcp_list_servers", Map.of("sandbox", sandbox)).text();
    }

    @Test
    void aVariableOfAProgramComesFromASecret() {
        assertThat(greeted("secret_sums")).isEqualTo(TOKEN + ", Ann\n");
        assertThat(listed()).contains("secret_sums").doesNotContain(TOKEN);
    }

    @Test
    void aHeaderOfAnAddressComesFromASecret() {
        WEB.applyKeyedUrl(KeyedWeb.URL, "Authorization", SECRET, "header");
        WEB.awaitReady();
        KeyedWeb.start(KUBECTL, WEB.child());

        await("the server's answer")
                .atMost(RESTARTED)
                .until(() -> printed("""
                        import mcptools
                        try:
                            print(mcptools.call("secret_web", "digest", {}))
                        except mcptools.ToolRunnerError as error:
                            print(type(error).__name__, error)
                        """), said -> said.equals(sha256("Bearer " + TOKEN) + "\n"));
    }

    /** The control: the server, which answers with the variable, and its pod, which has the file. */
    @Test
    void codeFindsWhatTheSecretHoldsNowhere() {
        assertThat(greeted("secret_sums")).startsWith(TOKEN);
        assertThat(KUBECTL.in(SUMS.child(), "cat", "/etc/sandglass/mcp/" + SECRET + "/token"))
                .isEqualTo(TOKEN);

        String found = printed("""
                import glob, mcptools, os
                wanted = "%s"[::-1]
                seen = {"environment": wanted in str(dict(os.environ))}
                seen["servers"] = wanted in str(mcptools.servers()) + str(mcptools.describe("secret_sums"))
                def look(kind, paths):
                    count, hit = 0, False
                    for path in paths:
                        try:
                            with open(path, "rb") as file:
                                hit = wanted.encode() in file.read(1_000_000) or hit
                            count += 1
                        except OSError:
                            pass
                    seen[kind] = hit
                    return count
                processes = look("processes", glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"))
                import mcptools.secret_sums.greet
                functions = look("functions", [path for path in glob.glob("/workspace/mcptools/**", recursive=True)])
                look("files", [
                    os.path.join(folder, name)
                    for top in ("/etc", "/run", "/tmp", "/workspace", "/var/run")
                    for folder, _, names in os.walk(top)
                    for name in names
                ])
                print(processes > 1, functions > 1, os.path.exists("/etc/sandglass/mcp"))
                print(sorted(kind for kind, hit in seen.items() if hit))
                """.formatted(new StringBuilder(TOKEN).reverse()));

        assertThat(found).isEqualTo("True True False\n[]\n");
    }

    /** The kinds of calls are those of the supervisor's socket; the answers say what went wrong, and nothing more. */
    @Test
    void codeCannotAskTheLinkForIt() {
        String answers = printed("""
                import json, os, socket, struct
                def ask(**asked):
                    with socket.socket(socket.AF_UNIX) as link:
                        link.settimeout(60)
                        link.connect(os.environ["SANDGLASS_MCP_SOCKET"])
                        body = json.dumps({"id": 1, **asked}).encode()
                        link.sendall(struct.pack(">I", len(body)) + body)
                        file = link.makefile("rb")
                        head = file.read(4)
                        return json.loads(file.read(struct.unpack(">I", head)[0])) if head else "closed"
                entry = {"secret": "sandglass-mcp-e2e", "key": "token"}
                print(ask(op="servers"))
                print(ask(op="describe", server="secret_sums"))
                print(ask(op="call", server="secret_sums", tool="Add-Numbers", arguments={"a": 1, "b": 1}))
                for asked in (
                    {"op": "mcp_register", "name": "mine", "command": "env", "secret_env": {"A": entry}},
                    {"op": "start", "argv": ["env"], "secret_env": {"A": entry}},
                    {"op": "call", "server": "secret_sums", "tool": "greet", "arguments": {}, "secret_env": {"A": entry}},
                    {"op": "call", "server": "secret-sums-mcp", "tool": "greet", "arguments": {"name": "Ann"}},
                ):
                    try:
                        print(ask(**asked))
                    except (OSError, ValueError) as error:
                        print(type(error).__name__)
                """);

        assertThat(answers).contains("Add-Numbers", "'sum': 2").doesNotContain(TOKEN);
    }

    /** The control: the words around it, which are told. */
    @Test
    void aServerThatPrintsItsTokenTellsItToNobody() {
        CARELESS.applyKeyed(BLABS, "TOKEN", SECRET, "token");
        String told = await("the end of the server")
                .atMost(RESTARTED)
                .until(() -> greeted("secret_careless"), said -> said.contains("cannot log in with"));

        assertThat(told).startsWith("ServerNotRunning").contains("cannot log in with …");
        assertThat(told + listed() + CARELESS.shownWide()).doesNotContain(TOKEN, "5b1e90");
    }

    /** The controls: lines that each of them does write. */
    @Test
    void noLogHasIt() {
        assertThat(greeted("secret_sums")).startsWith(TOKEN);

        assertThat(ComponentLogs.of(TENANT.kubernetes(), SandboxLabels.COMPONENT_GATEWAY))
                .contains("secret_sums")
                .doesNotContain(TOKEN);
        assertThat(ComponentLogs.of(TENANT.kubernetes(), "operator"))
                .isNotEmpty()
                .doesNotContain(TOKEN);
        assertThat(KUBECTL.run("logs", KUBECTL.field(SUMS.child(), ".status.podName")))
                .contains("serving")
                .doesNotContain(TOKEN);
    }

    private static Sandbox thatMounts(String secret) {
        var mounting = new Sandbox();
        mounting.getMetadata().setName(SANDBOXES.name());
        mounting.getMetadata().setNamespace(Tenant.NAMESPACE);
        mounting.setSpec(SandboxSpec.DEFAULT.withVolumes(
                List.of(new Volume("key", "/key", null, null, null, new Volume.Secret(secret), null))));
        return mounting;
    }

    private static void dryRun(Sandbox wanted) {
        TENANT.kubernetes().resource(wanted).dryRun(true).create();
    }

    /** The control: a Secret that was opened to sandboxes. */
    @Test
    void noSandboxMountsSuchASecret() {
        assertThatThrownBy(() -> dryRun(thatMounts(SECRET))).hasMessageContaining("mountable-");
        assertThatCode(() -> dryRun(thatMounts("mountable-e2e"))).doesNotThrowAnyException();
        assertThat(agent.refusal(
                        "sandbox_start",
                        Map.of("sandbox", SANDBOXES.name(), "config", Map.of("volumes", List.of(SECRET + ":/key")))))
                .contains(SECRET);
    }

    /** An image, or a list of hosts, of another's would get the key. The control: a sandbox of the caller's own. */
    @Test
    void whoMayEditSandboxesCannotChangeThePodOfAServer() {
        assumeTrue(
                TENANT.kubernetes()
                                .admissionRegistration()
                                .v1()
                                .validatingAdmissionPolicies()
                                .withName(Installation.NAMESPACE + "-sandglass-tool-servers")
                                .get()
                        != null,
                "policies.enabled is false");
        SUMS.awaitReady();

        for (String change : List.of("{\"memory\":\"300Mi\"}", "{\"allowedDomains\":[\"example.com\"]}")) {
            assertThatThrownBy(() -> KUBECTL.patch(SUMS.child(), change))
                    .hasMessageContaining("only the Sandglass operator may change");
        }
        Sandbox labelled = thatMounts("mountable-e2e");
        labelled.getMetadata().setLabels(Map.of(SandboxLabels.TOOL_SERVER, SUMS.name()));
        assertThatThrownBy(() -> dryRun(labelled)).hasMessageContaining("only the Sandglass operator may set");

        assertThatCode(() -> KUBECTL.patch(sandbox, "{\"idleTimeout\":\"20m\"}"))
                .doesNotThrowAnyException();
        assertThat(KUBECTL.field(SUMS.child(), ".spec.allowedDomains")).doesNotContain("example.com");
    }

    @Test
    void aSecretThatIsMissingIsNamedEverywhereAndTheCallWorksWhenItIsThere() {
        LATE.applyKeyed("GREETING", LATE_SECRET, "token");
        await("the condition that names the Secret")
                .atMost(RESTARTED)
                .until(LATE::shownWide, shown -> shown.contains("VolumeMissing") && shown.contains(LATE_SECRET));
        long begun = System.nanoTime();
        assertThat(greeted("secret_late")).startsWith("ServerNotRunning").contains("VolumeMissing", LATE_SECRET);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofMinutes(2));
        assertThat(listed()).contains("secret_late", "failed", LATE_SECRET);

        store(LATE_SECRET, Map.of("token", "credential-late"));

        await("the call").atMost(MOUNTED).until(() -> greeted("secret_late").equals("credential-late, Ann\n"));
        LATE.awaitReady();
    }

    /** The control: before its restart the server goes on with the former value. */
    @Test
    void aValueThatWasReplacedAppliesWhenTheServerStartsAgain() {
        var rotated = new SharedServer(KUBECTL, "secret-rotated");
        String secret = SECRET + "-rotated";
        try {
            store(secret, Map.of("token", "credential-one"));
            rotated.applyKeyed("GREETING", secret, "token");
            await("the server").atMost(RESTARTED).until(() -> greeted("secret_rotated")
                    .equals("credential-one, Ann\n"));
            store(secret, Map.of("token", "credential-two"));
            assertThat(greeted("secret_rotated")).isEqualTo("credential-one, Ann\n");

            KUBECTL.run("delete", "pod", KUBECTL.field(rotated.child(), ".status.podName"), "--wait=true");

            await("the server's next pod").atMost(RESTARTED).until(() -> greeted("secret_rotated")
                    .equals("credential-two, Ann\n"));
            store(secret, Map.of("token", "credential-three"));
            KUBECTL.run("delete", "sandboxes.sandglass.dev", rotated.child(), "--wait=true");
            await("the server's next Sandbox").atMost(RESTARTED).until(() -> greeted("secret_rotated")
                    .equals("credential-three, Ann\n"));
        } finally {
            rotated.delete();
            KUBECTL.run("delete", "secret", secret, "--ignore-not-found");
        }
    }
}
