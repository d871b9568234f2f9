package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GatewayReplicas;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Registries;
import dev.sandglass.e2e.support.StreamedCall;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** What {@code allowedDomains} opens, closes and says, seen by code in a sandbox. */
@Isolated("it ends replicas of the egress proxy")
class EgressE2E {

    private static final String DENIED = "denied.example";
    /** Without a restart of anything; the request that shows it goes to a real host, on a machine that does much else. */
    private static final Duration IN_FORCE = Duration.ofSeconds(10);

    /** {@code reached STATUS}, or {@code refused WHY}. Whose certificate it is matters in EgressClientsE2E. */
    private static final String FETCH = """
            import ssl, urllib.error, urllib.request
            context = ssl._create_unverified_context()
            def fetch(url):
                try:
                    return "reached %d" % urllib.request.urlopen(url, timeout=20, context=context).status
                except urllib.error.HTTPError as answer:
                    return "reached %d" % answer.code if answer.headers["X-Proxy-Error"] is None else "refused %d" % answer.code
                except OSError as error:
                    return "refused %s" % error
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final EgressProxyPods PROXY = new EgressProxyPods(TENANT.kubernetes());
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static Registries registries = new Registries("", "", "");
    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        assumeTrue(PROXY.isInstalled(), "egressProxy.enabled is false");
        sandbox = SANDBOXES.start();
        registries = Registries.knownTo(SANDBOXES.agent(), sandbox);
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static String list(String... domains) {
        return "{\"allowedDomains\":%s}".formatted(Attack.json(domains));
    }

    private static String fetch(String host) {
        return FETCH + "print(fetch('https://%s/'))".formatted(host);
    }

    /** What comes of a request to the allowed host, with what the answer tells of the network. */
    private String reached(String from) {
        return OnceDnsSays.of(() -> agent.python(from, fetch(registries.pythonIndex())))
                .text();
    }

    private String printed(String code) {
        Answer answer = agent.python(sandbox, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout().strip();
    }

    @Test
    void theListIsTakenAtTheStartAndOpensThatHostAndNoOther() {
        String opened = SANDBOXES.start(Map.of("allowed_domains", List.of(registries.pythonIndex())));

        assertThat(reached(opened)).startsWith("reached ");
        assertThat(agent.python(opened, fetch(DENIED)).stdout()).startsWith("refused ");
        assertThat(agent.python(opened, fetch(registries.npm())).stdout()).startsWith("refused ");
        assertThat(agent.python(sandbox, fetch(registries.pythonIndex())).stdout())
                .as("a sandbox without a list")
                .startsWith("refused ");
    }

    @Test
    void aRefusalNamesTheHostAndTheFieldToChange() {
        String answer = printed("""
                import subprocess
                print(subprocess.run(["curl", "-sSi", "http://%s/path"], capture_output=True, text=True).stdout)
                """.formatted(DENIED));

        assertThat(answer)
                .startsWith("HTTP/1.1 403")
                .containsPattern("(?i)x-proxy-error: not-allowed")
                .contains("host: " + DENIED, "port: 80", Tenant.NAMESPACE + "/" + sandbox)
                .contains("spec.allowedDomains", "allowed_domains");
    }

    @Test
    void theResultNamesTheHostsThatWereDeniedMeanwhile() {
        String told = "The code asked for \"named." + DENIED;
        try (GatewayReplicas replicas = new GatewayReplicas(INSTALLATION)) {
            List<Pod> pods = replicas.two();
            Agent one = replicas.agentOf(pods.getFirst());
            Agent other = replicas.agentOf(pods.getLast());

            Answer answer = one.python(sandbox, fetch("named." + DENIED));

            assertThat(answer.list("denied_hosts").toString()).contains("named." + DENIED);
            assertThat(answer.text()).contains(told);
            assertThat(one.python(sandbox, "1").data().get("denied_hosts"))
                    .as("the next result")
                    .isIn(null, List.of());
            // It heard the same, of a call that is not its own.
            Answer later = other.python(sandbox, "1");
            assertThat(later.text()).isEqualTo("1");
            assertThat(later.data().get("denied_hosts")).isIn(null, List.of());
        }
    }

    @Test
    void anEntryIsInForceAtOnceOnARunningSandbox() {
        String started = KUBECTL.field(sandbox, ".status.startedAt");
        StreamedCall call = agent.stream(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", FETCH + """
                import time
                print("waiting", fetch("https://%1$s/"), flush=True)
                while not fetch("https://%1$s/").startswith("reached"):
                    time.sleep(0.05)
                print("in force")
                """.formatted(registries.pythonIndex())));
        call.awaitOutput("waiting refused");
        KUBECTL.patch(sandbox, list(registries.pythonIndex()));
        long written = System.nanoTime();

        assertThat(call.answer().stdout()).endsWith("in force\n");
        assertThat(Duration.ofNanos(System.nanoTime() - written)).isLessThan(IN_FORCE);
        assertThat(KUBECTL.field(sandbox, ".status.startedAt")).isEqualTo(started);
        KUBECTL.patch(sandbox, list());
    }

    @Test
    void aTunnelThatLostItsEntryIsClosed() {
        KUBECTL.patch(sandbox, list(registries.pythonIndex()));
        StreamedCall call = agent.stream(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", """
                import base64, http.client, os, ssl, time, urllib.parse
                proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
                name = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
                def connect():
                    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, timeout=30,
                                                             context=ssl._create_unverified_context())
                    connection.set_tunnel("%1$s", 443, {"Proxy-Authorization": "Basic " + name})
                    connection.request("HEAD", "/")
                    connection.getresponse().read()
                    return connection
                while True:
                    try:
                        connection = connect()
                        break
                    except OSError:
                        time.sleep(0.05)
                print("open", flush=True)
                connection.sock.settimeout(30)
                try:
                    print("ended", connection.sock.recv(1))
                except OSError as error:
                    print("ended", type(error).__name__)
                """.formatted(registries.pythonIndex())));
        call.awaitOutput("open");
        KUBECTL.patch(sandbox, list(registries.npm()));
        long written = System.nanoTime();

        assertThat(call.answer().stdout()).contains("ended").doesNotContain("TimeoutError");
        assertThat(Duration.ofNanos(System.nanoTime() - written)).isLessThan(IN_FORCE);
        KUBECTL.patch(sandbox, list());
    }

    @Test
    void withoutAnyProxyNothingLeavesASandboxAndAfterwardsTheListHolds() {
        String opened = SANDBOXES.start(Map.of("allowed_domains", List.of(registries.pythonIndex())));
        int replicas = PROXY.replicas();
        try {
            PROXY.scaleTo(0);
            assertThat(agent.python(opened, fetch(registries.pythonIndex())).stdout())
                    .startsWith("refused ");
        } finally {
            PROXY.scaleTo(replicas);
        }
        assertThat(agent.python(opened, fetch(DENIED)).stdout()).startsWith("refused ");
        assertThat(reached(opened)).startsWith("reached ");
    }

    /** Each replica is replaced under load: what is not allowed stays so, before and after the new one knows of us. */
    @Test
    void aReplicaThatIsReplacedLetsNothingThrough() {
        KUBECTL.patch(sandbox, list(registries.npm()));
        StreamedCall call = agent.stream(
                "sandbox_run_code",
                Map.of(
                        "sandbox",
                        sandbox,
                        "timeout",
                        240,
                        "wait",
                        200,
                        "code",
                        FETCH + """
                import collections, pathlib
                done = pathlib.Path("replaced")
                done.unlink(missing_ok=True)
                print("loading", flush=True)
                denied, allowed = collections.Counter(), collections.Counter()
                while not done.exists() or denied["refused"] <= 200:
                    for _ in range(20):
                        denied[fetch("http://%s/").partition(" ")[0]] += 1
                    allowed[fetch("https://%s/").partition(" ")[0]] += 1
                print(denied["reached"], denied["refused"] > 200, allowed["reached"] > 0)
                """.formatted(registries.pythonIndex(), registries.npm())));
        call.awaitOutput("loading");
        for (Pod replica : PROXY.running()) {
            PROXY.replace(replica);
        }
        agent.command(sandbox, "touch", "replaced");

        assertThat(call.answer().stdout()).endsWith("0 True True\n");
        KUBECTL.patch(sandbox, list());
    }

    /** Told once a minute for each host, however often it is asked for. */
    @Test
    void whatIsDeniedIsAnEventOfTheSandbox() {
        String host = "told." + DENIED;
        for (int i = 0; i < 3; i++) {
            assertThat(printed(fetch(host))).startsWith("refused ");
        }

        await("an Event").atMost(Duration.ofMinutes(1)).until(() -> !denials(host)
                .isEmpty());
        assertThat(denials(host)).hasSizeLessThanOrEqualTo(2).allSatisfy(event -> {
            assertThat(event.getType()).isEqualTo("Warning");
            assertThat(event.getRegarding().getKind()).isEqualTo("Sandbox");
            assertThat(event.getNote()).contains("allowedDomains");
        });
    }

    private static List<Event> denials(String host) {
        return TENANT.kubernetes().events().v1().events().inNamespace(Tenant.NAMESPACE).list().getItems().stream()
                .filter(event -> event.getRegarding() != null
                        && event.getRegarding().getName().equals(sandbox)
                        && "EgressDenied".equals(event.getReason())
                        && event.getNote().contains(host))
                .toList();
    }
}
