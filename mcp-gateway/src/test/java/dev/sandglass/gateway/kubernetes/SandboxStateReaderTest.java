package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a running sandbox's condition says of edits. */
class SandboxStateReaderTest {

    private static final DefaultDomains DEFAULTS = new DefaultDomains(List.of("default.example"));
    private static final String MESSAGE = "The sandbox runs; the edited spec applies at its next start";

    /** Whoever may edit the resource may annotate it as another one, or with anything. */
    @ParameterizedTest
    @ValueSource(
            strings = {"other", "Box_1", "b\u001b[2Jox", "box\n", "box\u200b", "", "a\u202ebox", "\ud800", "box box"})
    void anAnnotationThatIsNotItsNameIsNoName(String annotation) {
        assertThat(givenName("box", annotation)).isEqualTo("box");
    }

    @Test
    void theNameThatItsMakerWroteIsShown() {
        String mapped = new SandboxName("My_Box").resourceName();
        assertThat(givenName(mapped, "My_Box")).isEqualTo("My_Box");
        assertThat(givenName(mapped, "my_box")).isEqualTo(mapped);
    }

    private static String givenName(String name, String annotation) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withNamespace("sandglass-default")
                .withUid("uid")
                .addToAnnotations(SandboxLabels.GIVEN_NAME, annotation)
                .build());
        resource.setSpec(SandboxSpec.DEFAULT);
        resource.setStatus(new SandboxStatus(
                1L,
                List.of(new ConditionBuilder(condition("Ready", Reason.CRASHED))
                        .withStatus("False")
                        .withMessage("its last words: \u001b[2J\nReady\u202e")
                        .build()),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null));
        SandboxState state =
                new SandboxStateReader(DEFAULTS).of("default", resource).orElseThrow();
        assertThat(state).isInstanceOfSatisfying(SandboxState.Pending.class, pending -> assertThat(pending.message())
                .isEqualTo("its last words: [2J Ready"));
        return state.ref().givenName();
    }

    private static Optional<String> awaited(Reason reason) {
        return running("Ready", reason).flatMap(RunningSandbox::awaited);
    }

    /** One whose condition of that type has the reason and the message. */
    private static Optional<RunningSandbox> running(String type, Reason reason) {
        return running(type, reason, List.of("example.com"));
    }

    private static Optional<RunningSandbox> running(String type, Reason reason, @Nullable List<String> allowedDomains) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName("box")
                .withNamespace("sandglass-default")
                .withUid("uid")
                .build());
        resource.setSpec(SandboxSpec.DEFAULT.withAllowedDomains(allowedDomains));
        resource.setStatus(new SandboxStatus(
                1L,
                List.of(
                        condition("Ready", type.equals("Ready") ? reason : Reason.RUNNING),
                        condition("NetworkReady", type.equals("Ready") ? Reason.POLICIES_APPLIED : reason)),
                "10.0.0.7",
                "pod",
                1,
                null,
                null,
                null,
                null,
                null,
                null));
        SandboxState state =
                new SandboxStateReader(DEFAULTS).of("default", resource).orElseThrow();
        return state instanceof SandboxState.Running(RunningSandbox sandbox) ? Optional.of(sandbox) : Optional.empty();
    }

    private static Condition condition(String type, Reason reason) {
        return new ConditionBuilder()
                .withType(type)
                .withStatus("True")
                .withReason(reason.value())
                .withMessage(MESSAGE)
                .build();
    }

    @Test
    void whatMayBeReachedIsTheListWithWhatTheOperatorSaysIsNotInForce() {
        assertThat(running("NetworkReady", Reason.POLICIES_APPLIED)
                        .orElseThrow()
                        .reach())
                .isEqualTo(new Reach(List.of("example.com"), false, Optional.empty()));
        assertThat(running("NetworkReady", Reason.DOMAINS_IGNORED).orElseThrow().reach())
                .isEqualTo(new Reach(List.of("example.com"), false, Optional.of(MESSAGE)));
    }

    @Test
    void whatMayBeReachedWithoutAListIsTheInstallations() {
        assertThat(running("NetworkReady", Reason.POLICIES_APPLIED, null)
                        .orElseThrow()
                        .reach())
                .isEqualTo(new Reach(List.of("default.example"), true, Optional.empty()));
        assertThat(running("NetworkReady", Reason.POLICIES_APPLIED, List.of())
                        .orElseThrow()
                        .reach())
                .isEqualTo(Reach.NOTHING);
    }

    @Test
    void editsThatWaitAreToldInTheOperatorsWords() {
        assertThat(awaited(Reason.UPDATE_PENDING)).contains(MESSAGE);
    }

    @Test
    void aSandboxThatIsAsItIsWantedAwaitsNothing() {
        assertThat(awaited(Reason.RUNNING)).isEmpty();
        assertThat(awaited(Reason.RESTARTED)).isEmpty();
    }
}
