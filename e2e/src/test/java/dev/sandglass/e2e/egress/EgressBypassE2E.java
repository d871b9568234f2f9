package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Attack.Finding;
import dev.sandglass.e2e.support.ControlPod;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Registries;
import dev.sandglass.e2e.support.Surroundings;
import dev.sandglass.e2e.support.Surroundings.Target;
import dev.sandglass.e2e.support.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Code in a sandbox tries to get past {@code allowedDomains}. Each attack also runs where the wall it meets is missing: from
 * a pod without policies, from a sandbox whose list has the entry, or with the one thing put right that is wrong in it.
 */
@Isolated("it counts questions to the resolver")
class EgressBypassE2E {

    private static final Attack EGRESS = Attack.named("egress.py");
    private static final Attack NETWORK = Attack.named("network.py");
    private static final String CLUSTER_NAME = "kubernetes.default.svc.cluster.local";
    private static final int LOOKUPS = 20;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final EgressProxyPods PROXY = new EgressProxyPods(TENANT.kubernetes());
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static @Nullable ControlPod control;
    private static String allowed = "";
    private static String address = "";
    private static String attacker = "";
    private static String neighbour = "";

    @BeforeAll
    static void putEverythingInPlace() {
        assumeTrue(INSTALLATION.ownNode().isPresent(), "attacks run on the project's own cluster only");
        assumeTrue(PROXY.isInstalled(), "egressProxy.enabled is false");
        onNode("stand-ins", "up", Surroundings.addressOfNode(TENANT.kubernetes()));
        neighbour = SANDBOXES.start();
        allowed = Registries.knownTo(SANDBOXES.agent(), neighbour).pythonIndex();
        attacker = SANDBOXES.start(Map.of("allowed_domains", List.of(allowed, CLUSTER_NAME)));
        control = ControlPod.start(
                TENANT.kubernetes(),
                TENANT.imageOf(attacker),
                EgressProxyPods.PORT,
                EgressProxyPods.DENIALS_PORT,
                EgressProxyPods.MANAGEMENT_PORT);
        address = control()
                .python("import socket; print(socket.gethostbyname('%s'))".formatted(allowed))
                .strip();
    }

    @AfterAll
    static void removeEverything() {
        if (INSTALLATION.ownNode().isPresent()) {
            onNode("stand-ins", "down");
            onNode("dns-counter", "down");
        }
        if (control != null) {
            control.close();
        }
        TENANT.close();
    }

    private static String onNode(String script, String... arguments) {
        String path = INSTALLATION.root().resolve("e2e/attack").resolve(script).toString();
        return INSTALLATION
                .ownNode()
                .orElseThrow()
                .run(Stream.concat(Stream.of(path), Stream.of(arguments)).toArray(String[]::new));
    }

    private static String printed(String sandbox, String code) {
        Answer answer = SANDBOXES.agent().python(sandbox, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    private static ControlPod control() {
        return Objects.requireNonNull(control);
    }

    private static Finding egress(String sandbox, Map<String, Object> attempt) {
        Map<String, Object> named = new HashMap<>(attempt);
        named.put("name", "it");
        return OnceDnsSays.of(
                () -> Objects.requireNonNull(EGRESS.run(List.of(named), code -> printed(sandbox, code))
                        .get("it")),
                Finding::how);
    }

    @TestFactory
    Stream<DynamicTest> whatIsWrittenInAnotherWayIsRefused() {
        return new EgressAttempts(allowed)
                .all()
                .map(pair -> DynamicTest.dynamicTest(pair.name(), () -> {
                    Finding harmless = egress(attacker, pair.harmless());
                    assertThat(harmless.reached()).as("control: %s", harmless).isTrue();
                    Finding attack = egress(attacker, pair.attack());
                    assertThat(attack.reached()).as("attack: %s", attack).isFalse();
                    assertThat(attack.how()).contains(pair.refusal());
                }));
    }

    /** The list has the cluster's name, yet what it leads to is the cluster's own. */
    @Test
    void anAllowedNameThatLeadsToAPrivateAddressIsNotDialled() {
        String target = CLUSTER_NAME + ":443";

        Finding finding = egress(attacker, EgressAttempts.connect(target));

        assertThat(finding.reached()).as(finding.how()).isFalse();
        assertThat(finding.how()).contains("403", "X-Proxy-Error: address-denied");
        Target unguarded = new Target("it", "tcp", CLUSTER_NAME, 443, CLUSTER_NAME);
        assertThat(reached(List.of(unguarded), control()::python))
                .as("control: a pod without walls")
                .containsExactly("it");
    }

    /** The address of an allowed host is no way around its name, and an entry for it does not open the name. */
    @Test
    void anAddressIsOpenedByItsOwnEntryAlone() {
        assertThat(egress(attacker, EgressAttempts.connect(address + ":80")).reached())
                .isFalse();

        String byAddress = SANDBOXES.start(Map.of("allowed_domains", List.of(address)));
        Finding opened = egress(byAddress, EgressAttempts.connect(address + ":80"));
        assertThat(opened.reached()).as("control: %s", opened).isTrue();
        assertThat(egress(byAddress, EgressAttempts.connect(allowed + ":443")).reached())
                .isFalse();
    }

    @Test
    void aDeniedEntryForMetadataOrTheNodeIsRefusedOrOpensNothing() {
        String node = Surroundings.addressOfNode(TENANT.kubernetes());
        for (String denied : List.of(Surroundings.METADATA, node)) {
            int port = denied.equals(node) ? 22 : 80;
            KUBECTL.patch(neighbour, "{\"allowedDomains\":[\"%s:%d\"]}".formatted(denied, port));

            Finding finding = egress(neighbour, EgressAttempts.connect(denied + ":" + port));
            Target direct = new Target("it", "tcp", denied, port, denied);

            assertThat(finding.reached()).as(finding.how()).isFalse();
            assertThat(reached(List.of(direct), code -> printed(neighbour, code)))
                    .isEmpty();
            assertThat(reached(List.of(direct), control()::python))
                    .as("control")
                    .containsExactly("it");
        }
        KUBECTL.patch(neighbour, "{\"allowedDomains\":[]}");
    }

    /** Counted by the node's packet filter at the proxies and at the sandbox, with an allowed name that is looked up. */
    @Test
    void aDeniedNameIsLookedUpByNobody() {
        List<String> pods = new ArrayList<>(PROXY.addresses());
        pods.add(String.valueOf(TENANT.sandbox(attacker).observed().address()));
        onNode("dns-counter", Stream.concat(Stream.of("up"), pods.stream()).toArray(String[]::new));

        List<Map<String, Object>> attempts = IntStream.range(0, LOOKUPS)
                .mapToObj(i -> Map.<String, Object>of(
                        "name", "data-" + i, "kind", "connect", "target", "data-%d.denied.example:443".formatted(i)))
                .toList();
        Map<String, Finding> findings = EGRESS.run(attempts, code -> printed(attacker, code));
        printed(attacker, "import socket\ntry: socket.getaddrinfo('data.denied.example', 443)\nexcept OSError: pass");

        assertThat(findings).hasSize(LOOKUPS);
        assertThat(findings.values()).noneMatch(Finding::reached);
        assertThat(onNode("dns-counter", "count").strip()).isEqualTo("0");
        String fresh = SANDBOXES.start(Map.of("allowed_domains", List.of("*.denied.example")));
        egress(fresh, EgressAttempts.connect("looked-up.denied.example:443"));
        assertThat(Integer.parseInt(onNode("dns-counter", "count").strip()))
                .as("control: a name that may be asked for")
                .isPositive();
    }

    @Test
    void theProxyIsTheOnlyWay() {
        List<Target> targets = new ArrayList<>();
        targets.add(new Target("the allowed host itself, TCP 443", "tcp", address, 443, address));
        targets.add(new Target("the allowed host itself, TCP 80", "tcp", address, 80, address));
        targets.add(
                new Target("a public host, UDP 443", "udp", Surroundings.PUBLIC_HOST, 443, Surroundings.PUBLIC_HOST));
        targets.add(new Target("a public host, UDP 53", "udp", Surroundings.PUBLIC_HOST, 53, Surroundings.PUBLIC_HOST));
        targets.add(new Target("a public host, ping", "icmp", Surroundings.PUBLIC_HOST, 0, Surroundings.PUBLIC_HOST));
        targets.add(new Target("the name of the allowed host", "resolve", allowed, 0, allowed));
        for (String replica : PROXY.addresses()) {
            targets.add(new Target(
                    "denials of " + replica,
                    "tcp",
                    replica,
                    EgressProxyPods.DENIALS_PORT,
                    control().address()));
            targets.add(new Target(
                    "management of " + replica,
                    "tcp",
                    replica,
                    EgressProxyPods.MANAGEMENT_PORT,
                    control().address()));
        }

        assertThat(reached(targets, code -> printed(attacker, code))).isEmpty();
        assertThat(reached(targets.stream().map(Target::seenFromControl).toList(), control()::python))
                .as("control")
                .hasSize(targets.size());
    }

    /** Who is no sandbox does not even reach the proxy; if the policy were missing, the proxy would not know him. */
    @Test
    void aPodThatIsNoSandboxReachesNoProxy() {
        List<Target> targets = Stream.concat(PROXY.addresses().stream(), Stream.of(PROXY.serviceAddress()))
                .map(at -> new Target(at, "tcp", at, EgressProxyPods.PORT, at))
                .toList();

        assertThat(reached(targets, control()::python)).isEmpty();
        assertThat(egress(attacker, EgressAttempts.connect(allowed + ":443")).reached())
                .as("control")
                .isTrue();
    }

    /** Even code that had taken the proxy over reaches nothing private: the wall behind it is the node's. */
    @Test
    void behindTheProxyStandsASecondWall() {
        String open = "exec 3<>/dev/tcp/%s/%d";
        String pod = PROXY.running().getFirst().getMetadata().getName();
        String node = Surroundings.addressOfNode(TENANT.kubernetes());
        List<Target> places = List.of(
                new Target("metadata", "tcp", Surroundings.METADATA, 80, Surroundings.METADATA),
                new Target("the node", "tcp", node, 22, node),
                new Target("a pod", "tcp", control().address(), 8081, control().address()));
        for (Target place : places) {
            assertThat(exit(pod, open.formatted(place.host(), place.port())))
                    .as(place.name())
                    .isNotZero();
        }
        assertThat(reached(places, control()::python)).as("control").hasSize(places.size());
        assertThat(exit(pod, open.formatted(address, 80))).as("control").isZero();
    }

    private static int exit(String pod, String script) {
        return Integer.parseInt(KUBECTL.run(
                        "--namespace=" + Installation.NAMESPACE,
                        "exec",
                        pod,
                        "--",
                        "bash",
                        "-c",
                        "timeout 3 bash -c '" + script + "' >/dev/null 2>&1; echo $?")
                .strip());
    }

    private static List<String> reached(List<Target> targets, UnaryOperator<String> runner) {
        return NETWORK.run(targets, runner).values().stream()
                .filter(Finding::reached)
                .map(Finding::name)
                .toList();
    }

    /** The credential stands in a Secret, which fewer may read than pods. */
    @Test
    void whoMayReadPodsLearnsNoCredential() {
        String password = printed(attacker, "import os; print(os.environ['https_proxy'])")
                .replaceFirst("^http://[^:]*:", "")
                .replaceFirst("@.*\\s*$", "");

        assertThat(password).as("control").hasSizeGreaterThan(30);
        assertThat(KUBECTL.run(
                        "get", "pod", TENANT.podOf(attacker).getMetadata().getName(), "--output=yaml"))
                .contains("name: https_proxy")
                .doesNotContain(password);
    }

    /** A neighbour's credential is stolen and used: it must name the sandbox at whose address it is used. */
    @Test
    void anothersCredentialOpensNothing() {
        String credential = printed(attacker, "import os; print(os.environ['https_proxy'])")
                .replaceFirst("^http://", "")
                .replaceFirst("@.*\\s*$", "");
        Map<String, Object> attempt = EgressAttempts.connectAs(credential, allowed + ":443");

        Finding stolen = egress(neighbour, attempt);

        assertThat(stolen.reached()).as(stolen.how()).isFalse();
        assertThat(stolen.how()).contains("407");
        assertThat(egress(attacker, attempt).reached()).as("control").isTrue();
    }
}
