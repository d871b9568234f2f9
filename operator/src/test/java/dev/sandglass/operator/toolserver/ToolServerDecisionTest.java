package dev.sandglass.operator.toolserver;

import static dev.sandglass.operator.toolserver.Servers.child;
import static dev.sandglass.operator.toolserver.Servers.server;
import static dev.sandglass.operator.toolserver.Servers.stdio;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.ToolServerReason;
import dev.sandglass.operator.child.ToolServerChild;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToolServerDecisionTest {

    private static Sandbox made(SandboxToolServer server) {
        assertThat(ToolServerDecision.of(server, Optional.empty())).isInstanceOf(ToolServerDecision.Make.class);
        return ToolServerChild.desired(server);
    }

    @Test
    void aServerWithoutASandboxGetsOneThatGarbageCollectionTakesWithIt() {
        Sandbox child = made(server("{stdio: {command: uvx, image: 'registry.example.com/x:1'}, memory: 1Gi, cpus: 2,"
                + " idleTimeout: 1h, allowedDomains: [example.com]}"));

        assertThat(child.getMetadata().getName()).isEqualTo("time-mcp");
        assertThat(child.getMetadata().getNamespace()).isEqualTo("tenant-a");
        assertThat(child.getMetadata().getLabels())
                .containsOnly(
                        Map.entry(SandboxLabels.TOOL_SERVER, "time"),
                        Map.entry(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR));
        assertThat(child.getMetadata().getOwnerReferences()).singleElement().satisfies(owner -> {
            assertThat(owner.getKind()).isEqualTo("SandboxToolServer");
            assertThat(owner.getUid()).isEqualTo("uid-time");
            assertThat(owner.getController()).isTrue();
            assertThat(owner.getBlockOwnerDeletion()).isNull();
        });
        assertThat(child.getSpec())
                .isEqualTo(new SandboxSpec(
                                "registry.example.com/x:1", new Quantity("1Gi"), new Quantity("2"), null, null, false)
                        .withIdleTimeout("1h")
                        .withAllowedDomains(List.of("example.com")));
        assertThat(ToolServerChild.isOne(child)).isTrue();
    }

    @Test
    void theListOfHostsIsTheServersOwnAndWithAUrlItsHostBesides() {
        assertThat(made(stdio()).getSpec().allowedDomains())
                .as("the installation's")
                .isNull();
        assertThat(made(server("{stdio: {command: uvx}, allowedDomains: []}"))
                        .getSpec()
                        .allowedDomains())
                .isEmpty();
        assertThat(made(server("{http: {url: 'https://mcp.example.com/mcp'}}"))
                        .getSpec()
                        .allowedDomains())
                .as("not the installation's besides")
                .containsExactly("mcp.example.com:443");
        assertThat(made(server("{http: {url: 'http://mcp.example.com:8080'}, allowedDomains: [a.example]}"))
                        .getSpec()
                        .allowedDomains())
                .containsExactly("a.example", "mcp.example.com:8080");
        assertThat(made(server("{http: {url: 'https://a.example/'}, allowedDomains: ['a.example:443']}"))
                        .getSpec()
                        .allowedDomains())
                .containsExactly("a.example:443");
    }

    @Test
    void asManyHostsAsTheSchemaTakesAreAsManyAsASandboxTakes() {
        String most = String.join(
                ", ",
                Stream.iterate(0, i -> i + 1)
                        .limit(63)
                        .map("d%d.example"::formatted)
                        .toList());

        assertThat(made(server("{http: {url: 'https://mcp.example.com'}, allowedDomains: [" + most + "]}"))
                        .getSpec()
                        .allowedDomains())
                .hasSize(64);
    }

    @Test
    void aSandboxThatIsAsItShouldBeStays() {
        Sandbox child = child(stdio(), SandboxStatus.UNSEEN);

        assertThat(ToolServerDecision.of(stdio(), Optional.of(child))).isEqualTo(new ToolServerDecision.Keep(child));
    }

    static Stream<SandboxSpec> drifts() {
        SandboxSpec right = ToolServerChild.desired(stdio()).getSpec();
        return Stream.of(
                right.withSuspended(true),
                right.withAllowedDomains(List.of("*")),
                right.withRetention("10s"),
                right.withMaxLifetime("10s"),
                right.withRuntimeClassName("weak"),
                new SandboxSpec("registry.example.com/other:1", right.memory(), right.cpus(), null, null, false),
                SandboxSpec.DEFAULT);
    }

    @ParameterizedTest
    @MethodSource("drifts")
    void whatSomeoneChangedIsMendedAndOtherLabelsStay(SandboxSpec changed) {
        Sandbox child = child(stdio(), SandboxStatus.UNSEEN);
        child.setSpec(changed);
        child.getMetadata().getLabels().put("example.com/team", "data");

        assertThat(ToolServerDecision.of(stdio(), Optional.of(child)))
                .isInstanceOfSatisfying(ToolServerDecision.Mend.class, mend -> {
                    assertThat(mend.mended().getSpec())
                            .isEqualTo(ToolServerChild.desired(stdio()).getSpec());
                    assertThat(mend.mended().getMetadata()).isEqualTo(child.getMetadata());
                    assertThat(mend.mended().getMetadata().getResourceVersion())
                            .as("a change in between is not overwritten")
                            .isEqualTo("7");
                    assertThat(mend.mended().getStatus()).isNull();
                });
    }

    static Stream<Consumer<Sandbox>> strangers() {
        return Stream.of(
                sandbox -> sandbox.getMetadata().getLabels().remove(SandboxLabels.TOOL_SERVER),
                sandbox -> sandbox.getMetadata().getLabels().put(SandboxLabels.TOOL_SERVER, "other"),
                sandbox -> sandbox.getMetadata().setLabels(null),
                sandbox -> sandbox.getMetadata().setOwnerReferences(List.of()),
                sandbox -> owner(sandbox).setUid("uid-of-the-former-one"),
                sandbox -> owner(sandbox).setController(false),
                sandbox -> owner(sandbox).setController(null));
    }

    private static OwnerReference owner(Sandbox sandbox) {
        return sandbox.getMetadata().getOwnerReferences().getFirst();
    }

    @ParameterizedTest
    @MethodSource("strangers")
    void aSandboxWithoutBothLabelAndOwnerIsNotTouched(Consumer<Sandbox> change) {
        Sandbox stranger = child(stdio(), SandboxStatus.UNSEEN);
        change.accept(stranger);

        assertThat(ToolServerDecision.of(stdio(), Optional.of(stranger)))
                .isInstanceOfSatisfying(ToolServerDecision.Reject.class, reject -> {
                    assertThat(reject.refusal().reason()).isEqualTo(ToolServerReason.NAME_TAKEN);
                    assertThat(reject.refusal().message()).contains("time-mcp", "delete it");
                    assertThat(reject.child()).isEmpty();
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{stdio: {command: a}, allowedDomains: ['*.co.uk']}",
                "{stdio: {command: a}, allowedDomains: ['10.0.0.1/8']}",
                "{http: {url: 'https://127.1/'}}",
                "{stdio: {command: a, env: [{name: T, valueFrom: {secretKeyRef: {name: mountable-a, key: b}}}]}}",
                "{stdio: {command: a, env: [{name: T, valueFrom: {secretKeyRef: {name: sandglass-mcp-a, key: b/c}}}]}}",
                "{http: {url: 'https://a.example/', headers: [{name: X, valueFrom: {secretKeyRef: {name: a, key: b}}}]}}",
                "{http: {url: 'https://a.example/'}, allowedDomains: ['*.co.uk']}"
            })
    void whatOnlyJavaRefusesIsReportedAndNothingIsMade(String spec) {
        assertThat(ToolServerDecision.of(server(spec), Optional.empty()))
                .isInstanceOfSatisfying(ToolServerDecision.Reject.class, reject -> {
                    assertThat(reject.refusal().reason()).isEqualTo(ToolServerReason.INVALID_SPEC);
                    assertThat(reject.refusal().message()).startsWith("spec.");
                });
    }

    @Test
    void whatIsClosedIsNamedByFieldAndRule() {
        SandboxToolServer closed =
                server("{http: {url: 'https://a.example/', headers: [{name: Authorization, valueFrom:"
                        + " {secretKeyRef: {name: database, key: password}}}]}}");

        assertThat(ToolServerDecision.of(closed, Optional.empty()))
                .isInstanceOfSatisfying(ToolServerDecision.Reject.class, reject -> assertThat(
                                reject.refusal().message())
                        .startsWith("spec.http.headers[Authorization].valueFrom.secretKeyRef: only")
                        .contains("begins with sandglass-mcp-", "create the Secret under such a name"));
    }

    private static SandboxToolServer withSecrets(int count) {
        return server("{stdio: {command: a, env: ["
                + String.join(
                        ", ",
                        Stream.iterate(0, i -> i + 1)
                                .limit(count)
                                .map(
                                        "{name: T%1$d, valueFrom: {secretKeyRef: {name: sandglass-mcp-%1$d, key: b}}}"
                                                ::formatted)
                                .toList())
                + "]}}");
    }

    @Test
    void theNumberOfSecretsIsBounded() {
        assertThat(ToolServerDecision.of(withSecrets(16), Optional.empty()))
                .isInstanceOf(ToolServerDecision.Make.class);
        assertThat(ToolServerDecision.of(withSecrets(17), Optional.empty()))
                .isInstanceOfSatisfying(ToolServerDecision.Reject.class, reject -> assertThat(
                                reject.refusal().message())
                        .isEqualTo("spec: at most 16 Secrets may be used, not 17; put several entries into one"
                                + " Secret"));
    }

    @Test
    void aSandboxThatIsBeingDeletedIsWaitedFor() {
        Sandbox leaving = child(stdio(), SandboxStatus.UNSEEN);
        leaving.getMetadata().setDeletionTimestamp("2026-03-01T10:00:00Z");

        assertThat(ToolServerDecision.of(stdio(), Optional.of(leaving)))
                .isEqualTo(new ToolServerDecision.Await(leaving));
    }

    @Test
    void forAServerThatIsBeingDeletedNothingIsMade() {
        SandboxToolServer leaving = stdio();
        leaving.getMetadata().setDeletionTimestamp("2026-03-01T10:00:00Z");

        assertThat(ToolServerDecision.of(leaving, Optional.empty())).isEqualTo(new ToolServerDecision.Leave());
    }
}
