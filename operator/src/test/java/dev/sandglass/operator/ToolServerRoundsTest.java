package dev.sandglass.operator;

import static dev.sandglass.api.toolserver.ToolServerCondition.ACCEPTED;
import static dev.sandglass.api.toolserver.ToolServerCondition.READY;
import static dev.sandglass.api.toolserver.ToolServerCondition.VERIFIED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ServerInfo;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.toolserver.Servers;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rounds for tool servers, of a whole operator against a stand-in for the API server. */
class ToolServerRoundsTest {

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void start() {
        rounds = MockedRounds.start(api);
    }

    @AfterEach
    void stop() {
        rounds.close();
    }

    private Resource<Sandbox> child() {
        return client.resources(Sandbox.class).inNamespace("tenant-a").withName("time-mcp");
    }

    private Resource<SandboxToolServer> toolServer() {
        return client.resources(SandboxToolServer.class).inNamespace("tenant-a").withName("time");
    }

    private Sandbox awaitChild(Predicate<Sandbox> condition) {
        return await().atMost(MockedRounds.SOON)
                .until(() -> Optional.ofNullable(child().get()), found -> found.filter(condition)
                        .isPresent())
                .orElseThrow();
    }

    private SandboxToolServer told(ToolServerCondition type, String status, String reason) {
        return await().atMost(MockedRounds.SOON).until(() -> toolServer().get(), found -> found.observed()
                .condition(type)
                .filter(told ->
                        told.getStatus().equals(status) && told.getReason().equals(reason))
                .isPresent());
    }

    @Test
    void aToolServerGetsASandboxWhosePodItReports() {
        client.resource(Servers.stdio()).create();

        told(ACCEPTED, "True", "SandboxMade");
        rounds.run();

        SandboxToolServer ready = told(READY, "True", "Running");
        assertThat(ready.observed().sandboxName()).isEqualTo("time-mcp");
        assertThat(ToolServerChild.belongsTo(ready, child().require())).isTrue();
        await().atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(events("SandboxMade"))
                .singleElement()
                .satisfies(event -> assertThat(event.getRegarding().getKind()).isEqualTo("SandboxToolServer")));
    }

    @Tag("slow")
    @Test
    void whatAGatewayNotesOnTheSandboxIsToldUntilTheSpecChanges() {
        client.resource(Servers.stdio()).create();
        SandboxToolServer made = told(VERIFIED, "Unknown", "NotVerified");
        var info = new ServerInfo("Time", "1.0", "2025-11-25");
        var handshake = new ServerHandshake(
                made.getMetadata().getUid(), made.getMetadata().getGeneration(), true, info, 2, null);

        MockedRounds.edit(child(), found -> {
            found.getMetadata().setAnnotations(Map.of(SandboxLabels.MCP_HANDSHAKE, handshake.note()));
            return found;
        });

        SandboxToolServer verified = told(VERIFIED, "True", "Verified");
        assertThat(verified.observed().serverInfo()).isEqualTo(info);
        assertThat(verified.observed().toolCount()).isEqualTo(2);

        MockedRounds.edit(toolServer(), found -> {
            found.setSpec(Servers.server("{stdio: {command: npx}}").getSpec());
            return found;
        });

        SandboxToolServer edited = told(VERIFIED, "Unknown", "NotVerified");
        assertThat(edited.observed().serverInfo()).isNull();
        assertThat(edited.observed().toolCount()).isNull();
    }

    private List<Event> events(String reason) {
        return client.events().v1().events().inNamespace("tenant-a").list().getItems().stream()
                .filter(event -> reason.equals(event.getReason()))
                .toList();
    }

    @Tag("slow")
    @Test
    void aSandboxThatSomeoneDeletedIsMadeAgain() {
        client.resource(Servers.stdio()).create();
        String first = awaitChild(found -> true).getMetadata().getUid();

        child().delete();

        awaitChild(found -> !found.getMetadata().getUid().equals(first));
        told(ACCEPTED, "True", "SandboxMade");
    }

    @Tag("slow")
    @Test
    void anEditOfEitherSpecEndsWithTheToolServers() {
        client.resource(Servers.stdio()).create();
        SandboxSpec right = awaitChild(found -> true).wanted();

        MockedRounds.edit(child(), found -> {
            found.setSpec(found.wanted().withSuspended(true).withAllowedDomains(List.of("*")));
            return found;
        });
        awaitChild(found ->
                found.getMetadata().getGeneration() >= 3 && found.wanted().equals(right));

        MockedRounds.edit(toolServer(), found -> {
            found.setSpec(
                    Servers.server("{stdio: {command: uvx}, idleTimeout: 1h}").getSpec());
            return found;
        });
        awaitChild(found -> found.wanted().equals(right.withIdleTimeout("1h")));
    }

    @Tag("slow")
    @Test
    void anotherSandboxOfThatNameIsLeftAloneAndReported() {
        Sandbox foreign = new Sandbox();
        foreign.getMetadata().setName("time-mcp");
        foreign.getMetadata().setNamespace("tenant-a");
        foreign.getMetadata().setLabels(Map.of("example.com/team", "data"));
        foreign.setSpec(SandboxSpec.DEFAULT.withIdleTimeout("1h"));
        client.resource(foreign).create();

        client.resource(Servers.stdio()).create();

        SandboxToolServer refused = told(READY, "False", "NameTaken");
        assertThat(refused.observed().sandboxName()).isNull();
        assertThat(refused.observed().holds(ACCEPTED)).isFalse();
        assertThat(child().require().wanted()).isEqualTo(foreign.getSpec());
        assertThat(child().require().getMetadata().getLabels()).isEqualTo(Map.of("example.com/team", "data"));
        await().atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(events("NameTaken"))
                .singleElement()
                .satisfies(event -> assertThat(event.getType()).isEqualTo("Warning")));
    }

    @Tag("slow")
    @Test
    void whatThePoliciesRefuseIsReportedInTheirWordsAndHealsWithTheSpec() {
        api.server()
                .expect()
                .post()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes")
                .andReturn(
                        403,
                        new StatusBuilder()
                                .withCode(403)
                                .withReason("Forbidden")
                                .withMessage("denied request: spec.image: x is not on this installation's list")
                                .build())
                .once();

        client.resource(Servers.stdio()).create();

        assertThat(told(ACCEPTED, "False", "SandboxRefused")
                        .observed()
                        .condition(ACCEPTED)
                        .orElseThrow()
                        .getMessage())
                .contains("spec.image: x is not on this installation's list");
        MockedRounds.edit(toolServer(), found -> {
            found.setSpec(Servers.server("{stdio: {command: npx}, memory: 1Gi}").getSpec());
            return found;
        });
        told(ACCEPTED, "True", "SandboxMade");
    }
}
