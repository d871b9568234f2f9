package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Attack.Finding;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Registries;
import dev.sandglass.e2e.support.Surroundings.Target;
import dev.sandglass.e2e.support.Tenant;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Addresses in {@code allowedDomains}: what speaks neither HTTP nor TLS goes straight through the NetworkPolicy. */
class EgressAddressesE2E {

    private static final Attack NETWORK = Attack.named("network.py");
    private static final Duration SOON = Duration.ofSeconds(60);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final EgressProxyPods PROXY = new EgressProxyPods(TENANT.kubernetes());
    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());

    private static String address = "";

    @BeforeAll
    static void find() throws UnknownHostException {
        assumeTrue(PROXY.isInstalled(), "egressProxy.enabled is false");
        String host = Registries.knownTo(SANDBOXES.agent(), SANDBOXES.start()).pythonIndex();
        address = Stream.of(InetAddress.getAllByName(host))
                .filter(Inet4Address.class::isInstance)
                .map(InetAddress::getHostAddress)
                .findFirst()
                .orElseThrow();
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static boolean reaches(String sandbox, String kind, int port) {
        Target target = new Target("it", kind, address, port, address);
        Map<String, Finding> found = NETWORK.run(
                List.of(target), code -> SANDBOXES.agent().python(sandbox, code).stdout());
        return Objects.requireNonNull(found.get("it")).reached();
    }

    /** The node puts a policy into force a moment after it was written, which may be after the pod is there. */
    private static void awaitReached(String sandbox, int port) {
        await("port %d by the policy".formatted(port)).atMost(SOON).until(() -> reaches(sandbox, "tcp", port));
    }

    @Test
    void anAddressIsReachedPastTheProxyOnItsPortAndNoOther() {
        String sandbox = SANDBOXES.start(Map.of("allowed_domains", List.of(address + ":443")));
        String neighbour = SANDBOXES.start();

        awaitReached(sandbox, 443);
        assertThat(reaches(sandbox, "tcp", 80)).isFalse();
        assertThat(reaches(sandbox, "udp", 443)).isFalse();
        assertThat(reaches(neighbour, "tcp", 443)).isFalse();

        KUBECTL.patch(sandbox, "{\"allowedDomains\":[\"%s:80\"]}".formatted(address));
        await("the entry that changed").atMost(SOON).until(() -> !reaches(sandbox, "tcp", 443));
        awaitReached(sandbox, 80);
    }

    @Test
    void aRangeIsReachedByTheAddressesInIt() {
        int lastDot = address.lastIndexOf('.');
        int begin = Integer.parseInt(address.substring(lastDot + 1)) & ~3;
        String range = "%s.%d/30:443".formatted(address.substring(0, lastDot), begin);
        String sandbox = SANDBOXES.start(Map.of("allowed_domains", List.of(range)));

        awaitReached(sandbox, 443);
        assertThat(reaches(sandbox, "tcp", 80)).isFalse();
    }
}
