package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvVariable;
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
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import dev.sandglass.gateway.sandbox.SeatId;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a running sandbox's condition says of edits. */
class SandboxStateReaderTest {

    private static final DefaultDomains DEFAULTS = new DefaultDomains(List.of("default.example"));
    private static final String SEAT = "5ea75ea7-0000-4000-8000-000000000001";
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

    private static Sandbox inSeat(@Nullable String seat) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName("box")
                .withNamespace("sandglass-default")
                .withUid("uid")
                .build());
        resource.setSpec(new SandboxSpec(null, null, null, null, List.of(new EnvVariable("A", "b")), false));
        resource.setStatus(new SandboxStatus(
                1L,
                List.of(condition("Ready", Reason.RUNNING)),
                "10.0.0.7",
                "pod",
                3,
                null,
                null,
                null,
                null,
                null,
                "Evicted",
                seat,
                null));
        return resource;
    }

    @Test
    void theSeatIsReadAndThePodIsKnownByTheSandboxAllTheSame() {
        assertThat(new SandboxStateReader(DEFAULTS).of("default", inSeat(SEAT)).orElseThrow())
                .isInstanceOfSatisfying(SandboxState.Running.class, running -> {
                    assertThat(running.sandbox().seat()).contains(new SeatId(SEAT));
                    assertThat(running.sandbox().uid()).isEqualTo("uid");
                    assertThat(running.sandbox().incarnation()).isEqualTo(3);
                });
        assertThat(new SandboxStateReader(DEFAULTS).of("default", inSeat(null)).orElseThrow())
                .isInstanceOfSatisfying(
                        SandboxState.Running.class,
                        running -> assertThat(running.sandbox().seat()).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "uid",
                "uid|1",
                "5EA75EA7-0000-4000-8000-000000000001",
                "5ea75ea7-0000-4000-8000-00000000000",
                "5ea75ea7-0000-4000-8000-0000000000011",
                "5ea75ea7-0000-4000-8000-000000000001\n",
                " 5ea75ea7-0000-4000-8000-000000000001"
            })
    void aSandboxWhoseSeatCannotBeOneIsNotUsedAndSaysWhy(String seat) {
        assertThat(new SandboxStateReader(DEFAULTS).of("default", inSeat(seat)).orElseThrow())
                .isInstanceOfSatisfying(SandboxState.Pending.class, pending -> assertThat(pending.condition())
                        .hasValueSatisfying(said -> assertThat(said)
                                .startsWith("SeatInvalid: status.seat must be a UUID in lower case")
                                .doesNotContain("5ea75ea7")));
    }

    @Test
    void aSeatIsConfiguredForTheSandboxThatTheStatusHasInIt() {
        var seat = new SeatId(SEAT);
        assertThat(SandboxStateReader.configuration(inSeat(SEAT), 3, seat))
                .contains(new SeatConfiguration(Map.of("A", "b"), Optional.of("Evicted")));
        assertThat(SandboxStateReader.configuration(inSeat(SEAT), 2, seat)).isEmpty();
        assertThat(SandboxStateReader.configuration(inSeat(null), 3, seat)).isEmpty();
        assertThat(SandboxStateReader.configuration(inSeat(SEAT.replace('1', '2')), 3, seat))
                .isEmpty();
        assertThat(SandboxStateReader.configuration(inSeat("uid"), 3, seat)).isEmpty();
    }

    @Test
    void aSandboxThatIsAsItIsWantedAwaitsNothing() {
        assertThat(awaited(Reason.RUNNING)).isEmpty();
        assertThat(awaited(Reason.RESTARTED)).isEmpty();
    }
}
