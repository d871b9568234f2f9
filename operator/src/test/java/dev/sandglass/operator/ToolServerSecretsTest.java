package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.toolserver.Servers;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which pods get the Secrets of tool servers, of a whole operator against a stand-in for the API server. */
class ToolServerSecretsTest {

    private static final String SECRET = "sandglass-mcp-github";
    private static final String NOT_AS_WANTED = "does not have the settings of SandboxToolServer time";

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void start() {
        rounds = MockedRounds.start(api);
        // Else the operator waits for it.
        client.resource(new SecretBuilder()
                        .withNewMetadata()
                        .withName(SECRET)
                        .withNamespace("tenant-a")
                        .endMetadata()
                        .build())
                .create();
    }

    @AfterEach
    void stop() {
        rounds.close();
    }

    private static SandboxToolServer withEntry(String key) {
        return Servers.server("{stdio: {command: npx, env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: " + SECRET
                + ", key: " + key + "}}}]}}");
    }

    private Resource<Sandbox> child() {
        return client.resources(Sandbox.class).inNamespace("tenant-a").withName("time-mcp");
    }

    private Resource<SandboxToolServer> toolServer() {
        return client.resources(SandboxToolServer.class).inNamespace("tenant-a").withName("time");
    }

    private List<Pod> pods() {
        return client.pods().inNamespace("tenant-a").list().getItems();
    }

    private Pod awaitPod(Predicate<Pod> condition) {
        return await().atMost(MockedRounds.SOON)
                .until(() -> pods().stream().filter(condition).findFirst(), Optional::isPresent)
                .orElseThrow();
    }

    private static List<String> entries(Pod pod) {
        return pod.getSpec().getVolumes().stream()
                .filter(volume -> volume.getSecret() != null)
                .flatMap(volume -> volume.getSecret().getItems().stream()
                        .map(item -> volume.getSecret().getSecretName() + "/" + item.getKey()))
                .toList();
    }

    private static Predicate<Pod> isIncarnation(int number) {
        return pod ->
                Integer.toString(number).equals(pod.getMetadata().getLabels().get(SandboxLabels.INCARNATION));
    }

    private Condition told(String name, Predicate<Condition> words) {
        return await().atMost(MockedRounds.SOON)
                .until(
                        () -> Optional.ofNullable(client.resources(Sandbox.class)
                                        .inNamespace("tenant-a")
                                        .withName(name)
                                        .get())
                                .flatMap(found -> found.observed().condition(ConditionType.READY))
                                .filter(words),
                        Optional::isPresent)
                .orElseThrow();
    }

    @Test
    void thePodOfAToolServerMountsTheEntriesOfItsResource() {
        client.resource(withEntry("token")).create();

        Pod pod = awaitPod(found -> true);

        assertThat(entries(pod)).containsExactly(SECRET + "/token");
        assertThat(pod.getMetadata().getLabels()).containsEntry(SandboxLabels.TOOL_SERVER, "time");
    }

    @Test
    void otherEntriesAreInAFreshPod() {
        client.resource(withEntry("token")).create();
        awaitPod(isIncarnation(1));
        rounds.run();
        told("time-mcp", ready -> ready.getReason().equals(Reason.RUNNING.value()));

        MockedRounds.edit(toolServer(), found -> {
            found.setSpec(withEntry("other").getSpec());
            return found;
        });

        assertThat(entries(awaitPod(isIncarnation(2)))).containsExactly(SECRET + "/other");
        await().atMost(MockedRounds.SOON).until(() -> pods().size() == 1);
    }

    /** The API server takes no repair here, so that what the operator does meanwhile can be seen. */
    @Tag("slow")
    @Test
    void anEditedChildGetsNoPodUntilItIsRepaired() {
        api.server()
                .expect()
                .put()
                .withPath("/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/time-mcp")
                .andReturn(
                        403,
                        new StatusBuilder()
                                .withCode(403)
                                .withReason("Forbidden")
                                .withMessage("denied request: not now")
                                .build())
                .always();
        client.resource(withEntry("token")).create();
        Pod first = awaitPod(isIncarnation(1));
        rounds.run();
        told("time-mcp", ready -> ready.getReason().equals(Reason.RUNNING.value()));
        SandboxSpec right = child().require().wanted();

        edit(right.withAllowedDomains(List.of("mine.example.com")));
        told("time-mcp", ready -> ready.getMessage().contains(NOT_AS_WANTED));
        client.resource(first).delete();

        Condition refused = told(
                "time-mcp",
                ready -> ready.getStatus().equals("False") && ready.getMessage().contains(NOT_AS_WANTED));
        assertThat(refused.getReason()).isEqualTo(Reason.STARTING.value());
        assertThat(pods()).isEmpty();

        edit(right);
        assertThat(entries(awaitPod(isIncarnation(2)))).containsExactly(SECRET + "/token");
    }

    private void edit(SandboxSpec spec) {
        MockedRounds.edit(child(), found -> {
            found.setSpec(spec);
            return found;
        });
    }

    /** Label, owner and spec are those of the child; its name is not. */
    @Tag("slow")
    @Test
    void aSecondSandboxThatPassesForTheChildGetsNoPod() {
        client.resource(withEntry("token")).create();
        Pod childs = awaitPod(found -> true);
        Sandbox second = ToolServerChild.desired(toolServer().require());
        second.getMetadata().setName("mine");

        client.resource(second).create();

        assertThat(told("mine", ready -> true).getMessage()).contains("No SandboxToolServer time owns this Sandbox");
        assertThat(pods())
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly(childs.getMetadata().getName());
    }
}
