package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.AgentServers.Owner;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import dev.sandglass.testing.MockApi;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of the resources of a name that is registered anew. */
@SuppressWarnings("NullAway.Init")
class ServersRegisteredAnewTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String NAMESPACE = "sandglass-default";
    private static final Owner BOX = new Owner("default", NAMESPACE, "box", "box", "uid-box");

    @RegisterExtension
    final MockApi server = new MockApi();

    private KubernetesAgentServers servers;

    @BeforeEach
    void start() {
        server.client()
                .load(SandboxToolServer.class
                        .getClassLoader()
                        .getResourceAsStream("META-INF/fabric8/sandboxtoolservers.sandglass.dev-v1.yml"))
                .create();
        servers = new KubernetesAgentServers(server.client(), SharedServers.NONE);
    }

    @AfterEach
    void stop() {
        servers.close();
    }

    private static Wanted command(String name, Map<String, String> env) {
        return new Wanted(new Registration.Command(name, "npx", List.of(), env, "", SOON), null, "alice");
    }

    private AgentServers.Made made(Owner owner, Wanted wanted) {
        return servers.register(owner, wanted).blockOptional(SOON).orElseThrow();
    }

    /** One that has taken its name over. */
    private SharedServer registered(Owner owner, Wanted wanted) {
        SharedServer made = made(owner, wanted).server();
        assertThat(servers.takeOver(owner, made).block(SOON)).isTrue();
        return made;
    }

    /** As of a gateway that has seen what there was before another one wrote. */
    private SharedServer made(String suffix, long number) {
        SandboxToolServer resource = AgentServerWrites.resource(BOX, command("web", Map.of()), suffix, number);
        SandboxToolServer made = server.client().resource(resource).create();
        return ToolServerReader.read(made).orElseThrow();
    }

    private List<SandboxToolServer> resources() {
        return server.client()
                .resources(SandboxToolServer.class)
                .inNamespace(NAMESPACE)
                .list()
                .getItems();
    }

    private List<String> resourcesNamed(String name) {
        return resources().stream()
                .filter(resource -> AgentServerWrites.givenName(resource).equals(name))
                .map(resource -> resource.getMetadata().getName())
                .toList();
    }

    @Test
    void theFormerStaysUntilTheNewOneTakesOver() {
        SharedServer former = registered(BOX, command("web", Map.of("A", "1")));

        AgentServers.Made made = made(BOX, command("web", Map.of("A", "2")));

        assertThat(made.former()).contains(former);
        assertThat(resourcesNamed("web"))
                .containsExactlyInAnyOrder(
                        former.identity().resource(), made.server().identity().resource());
        assertThat(resources()).extracting(Succession::number).containsExactlyInAnyOrder(1L, 2L);

        assertThat(servers.takeOver(BOX, made.server()).block(SOON)).isTrue();

        assertThat(resourcesNamed("web"))
                .containsExactly(made.server().identity().resource());
        assertThat(made(BOX, command("other", Map.of())).former()).isEmpty();
    }

    /** Else a caller could have any number of pods by one name. */
    @Test
    void oneThatHasNotTakenOverYetIsOvertakenByTheNextRegistration() {
        SharedServer former = registered(BOX, command("web", Map.of()));
        SharedServer second = made(BOX, command("web", Map.of())).server();

        AgentServers.Made third = made(BOX, command("web", Map.of()));

        assertThat(third.former()).contains(former);
        assertThat(resourcesNamed("web"))
                .containsExactlyInAnyOrder(
                        former.identity().resource(), third.server().identity().resource());
        assertThat(servers.takeOver(BOX, second).block(SOON)).isFalse();
        assertThat(resourcesNamed("web")).hasSize(2);
        assertThat(servers.takeOver(BOX, third.server()).block(SOON)).isTrue();
        assertThat(resourcesNamed("web"))
                .containsExactly(third.server().identity().resource());
    }

    @Test
    void twoGatewaysThatRegisterAtOnceLeaveOne() {
        SharedServer former = registered(BOX, command("web", Map.of()));
        SharedServer other = made("aaaaaaaaaaaa", 2);
        SharedServer last = made("bbbbbbbbbbbb", 2);

        assertThat(servers.takeOver(BOX, other).block(SOON)).isTrue();
        assertThat(resourcesNamed("web")).doesNotContain(former.identity().resource());
        assertThat(servers.takeOver(BOX, last).block(SOON)).isTrue();

        assertThat(resourcesNamed("web")).containsExactly(last.identity().resource());
        assertThat(servers.takeOver(BOX, other).block(SOON)).isFalse();
    }

    @Test
    void aRemovalDeletesTheOneThatStandsAsideToo() {
        registered(BOX, command("web", Map.of()));
        made(BOX, command("web", Map.of()));

        assertThat(servers.remove(BOX, "web").block(SOON)).isTrue();

        assertThat(resources()).isEmpty();
    }
}
