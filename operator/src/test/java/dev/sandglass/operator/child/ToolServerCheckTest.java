package dev.sandglass.operator.child;

import static dev.sandglass.operator.toolserver.Servers.server;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvVariable;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.pod.SecretFiles;
import io.fabric8.kubernetes.api.model.OwnerReference;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user of Sandboxes may try to read a tool server's Secrets; each attack is one change of what passes. */
class ToolServerCheckTest {

    private static final SandboxToolServer SERVER = server("{stdio: {command: npx, env: [{name: TOKEN, valueFrom:"
            + " {secretKeyRef: {name: sandglass-mcp-github, key: token}}}]}}");

    private static Sandbox child() {
        return ToolServerChild.desired(SERVER);
    }

    private static ToolServerCheck check(Sandbox sandbox) {
        return ToolServerCheck.of(sandbox, Optional.of(SERVER));
    }

    /** The control of all the others. */
    @Test
    void theChildAsItShouldBeGetsTheEntriesOfItsServer() {
        assertThat(check(child())).satisfies(check -> {
            assertThat(check.refusal()).isEmpty();
            assertThat(check.secrets())
                    .isEqualTo(new SecretFiles(SERVER.getSpec().secretKeys()));
            assertThat(check.secrets().keys()).containsOnlyKeys("sandglass-mcp-github");
        });
    }

    static Stream<UnaryOperator<SandboxSpec>> edits() {
        return Stream.of(
                spec -> SandboxSpec.DEFAULT,
                spec -> new SandboxSpec("registry.example.com/mine:1", spec.memory(), spec.cpus(), null, null, false)
                        .withIdleTimeout(spec.idleTimeout()),
                spec -> new SandboxSpec(
                                null,
                                spec.memory(),
                                spec.cpus(),
                                null,
                                List.of(new EnvVariable("PATH", "/workspace")),
                                false)
                        .withIdleTimeout(spec.idleTimeout()),
                spec -> spec.withAllowedDomains(List.of("mine.example.com")),
                spec -> spec.withVolumes(List.of(Volume.ofClaim("mine", "/mine", false, "mine"))),
                spec -> spec.withWorkspace(Workspace.of("1Gi", null, true)),
                spec -> spec.withPorts(List.of(new SandboxPort("web", 8080))),
                spec -> spec.withRuntimeClassName("weak"),
                spec -> spec.withMaxLifetime("720h"));
    }

    @ParameterizedTest
    @MethodSource("edits")
    void anEditedChildGetsNothingUntilItIsMended(UnaryOperator<SandboxSpec> edit) {
        Sandbox edited = child();
        edited.setSpec(edit.apply(edited.wanted()));

        refused(check(edited), Reason.STARTING, "does not have the settings of SandboxToolServer time");
        assertThat(check(ToolServerChild.mended(SERVER, edited))).isEqualTo(check(child()));
    }

    static Stream<Consumer<Sandbox>> impostors() {
        return Stream.of(
                sandbox -> sandbox.getMetadata().setName("other-mcp"),
                sandbox -> sandbox.getMetadata().setName("time"),
                sandbox -> sandbox.getMetadata().setOwnerReferences(List.of()),
                sandbox -> owner(sandbox).setUid("uid-of-the-former-one"),
                sandbox -> owner(sandbox).setController(false),
                sandbox -> sandbox.getMetadata().getLabels().put(SandboxLabels.TOOL_SERVER, "other"),
                sandbox -> sandbox.getMetadata().getLabels().put(SandboxLabels.TOOL_SERVER, ""));
    }

    private static OwnerReference owner(Sandbox sandbox) {
        return sandbox.getMetadata().getOwnerReferences().getFirst();
    }

    @ParameterizedTest
    @MethodSource("impostors")
    void aSandboxThatOnlyPassesForAChildGetsNoPod(Consumer<Sandbox> change) {
        Sandbox impostor = child();
        change.accept(impostor);

        refused(check(impostor), Reason.STARTING, "delete it");
    }

    @Test
    void aChildWhoseServerIsNotKnownGetsNoPod() {
        refused(ToolServerCheck.of(child(), Optional.empty()), Reason.STARTING, "No SandboxToolServer time owns");
    }

    /** Of whom the label makes no child, the gateway runs code in it: it must get nothing, and needs no server. */
    @Test
    void anOrdinarySandboxGetsNoSecretWhateverElseItHas() {
        Sandbox ordinary = child();
        ordinary.getMetadata().getLabels().remove(SandboxLabels.TOOL_SERVER);

        assertThat(check(ordinary)).isEqualTo(new ToolServerCheck(SecretFiles.NONE, Optional.empty()));
        assertThat(ToolServerCheck.of(ordinary, Optional.empty()).refusal()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{stdio: {command: a, env: [{name: T, valueFrom: {secretKeyRef: {name: mountable-a, key: b}}}]}}",
                "{stdio: {command: a, env: [{name: T, valueFrom: {secretKeyRef: {name: sbx-a-1, key: b}}}]}}",
                "{stdio: {command: a, env: [{name: T, valueFrom: {secretKeyRef: {name: sandglass-mcp-a, key: ../b}}}]}}",
                "{http: {url: 'https://127.1/'}}"
            })
    void aServerThatBreaksARuleGetsNoPod(String spec) {
        SandboxToolServer wrong = server(spec);
        Sandbox child = child();

        refused(ToolServerCheck.of(child, Optional.of(wrong)), Reason.INVALID_SPEC, "SandboxToolServer time: spec.");
    }

    private static void refused(ToolServerCheck check, Reason reason, String words) {
        assertThat(check.secrets()).isEqualTo(SecretFiles.NONE);
        assertThat(check.refusal()).hasValueSatisfying(refusal -> {
            assertThat(refusal.reason()).isEqualTo(reason);
            assertThat(refusal.message()).contains(words);
        });
    }
}
