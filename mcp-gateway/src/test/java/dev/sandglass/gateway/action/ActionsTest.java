package dev.sandglass.gateway.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The facts that use cases return, without a contract in front of them. */
class ActionsTest {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final TenantAccess.Tenant TENANT = new TenantAccess.Tenant("default", "sandglass-default");
    private static final Patience PATIENT = new Patience(SOON, OutputListener.NONE);
    private static final Patience HASTY = new Patience(Duration.ofMillis(50), OutputListener.NONE);

    private final FakeSandboxes sandboxes = new FakeSandboxes();
    private final FakeSupervisor supervisor = new FakeSupervisor();
    private final Actions actions =
            Actions.of(sandboxes, new Executions(supervisor, sandboxes::ends), new DeniedHosts());

    @AfterEach
    void stop() {
        supervisor.close();
    }

    private static <T> T of(Mono<T> action) {
        return action.blockOptional(SOON).orElseThrow();
    }

    private Started start(Patience patience) {
        return of(actions.lifecycle().start(BOX, SandboxConfig.UNCHANGED, "alice", patience));
    }

    private static ExecutionRequest code(String text) {
        var limits = new ExecutionRequest.Limits(SOON, SOON, false, 1000);
        return new ExecutionRequest.Code("python", "default", null, text, Map.of(), limits);
    }

    @Test
    void aStartThatIsAnsweredIsRunning() {
        assertThat(start(PATIENT)).isEqualTo(new Started.Running(sandboxes.addRunning("box")));
    }

    @Test
    void aStartWhoseKernelWasGivenUpIsUnverified() {
        supervisor.giveUp("No module named 'ipykernel'");
        assertThat(start(PATIENT)).isInstanceOf(Started.Unverified.class);
    }

    @Test
    void aStartThatOutlastsThePatienceGoesOn() {
        var pending = new SandboxState.Pending(BOX, "uid-box", "Evicted", "The node put the pod out.");
        sandboxes.put(pending);
        sandboxes.startsAnswer(Mono.never());
        assertThat(start(HASTY)).isEqualTo(new Started.StillStarting(Optional.of(pending)));
        assertThat(pending.condition()).contains("Evicted: The node put the pod out");
    }

    @Test
    void aStartWhosePodEndsSaysWhy() {
        supervisor.vanish();
        sandboxes.end("box", "The image cannot be a sandbox");
        assertThat(start(PATIENT)).isEqualTo(new Started.Ended("The image cannot be a sandbox"));
    }

    @Test
    void aStartThatFailsSaysWhetherItsConfigurationIsKept() {
        var missing = new SandboxProblem.StartFailed(BOX, "VolumeMissing", "there is no claim data");
        sandboxes.startsAnswer(Mono.error(missing));
        assertThat(start(PATIENT)).isEqualTo(new Started.Failed(missing, false));

        sandboxes.put(new SandboxState.Pending(BOX, "uid-box", "VolumeMissing", "there is no claim data"));
        assertThat(start(PATIENT)).isEqualTo(new Started.Failed(missing, true));
    }

    /** As calls do that come together, of which the first makes the sandbox. */
    @Test
    void aRunThatMayMakeTheSandboxWaitsForOneThatStarts() {
        sandboxes.put(new SandboxState.Pending(BOX, "uid-box", "Starting", "The pod starts."));
        var made = new Absent.Created("alice", SandboxConfig.UNCHANGED);
        assertThatThrownBy(() -> of(actions.runs().run(BOX, code("print 42"), new Absent.Refused(), PATIENT)))
                .hasMessageContaining("still starting");

        Run run = of(actions.runs().run(BOX, code("print 42"), made, PATIENT));
        assertThat(run.result().stdout()).isEqualTo("42");
        assertThat(run.created()).isFalse();
        assertThat(run.resumed()).isNull();

        sandboxes.put(new SandboxState.Pending(BOX, "uid-box", "Starting", "The pod starts."));
        sandboxes.startsAnswer(Mono.never());
        assertThatThrownBy(() -> of(actions.runs().run(BOX, code("print 42"), made, HASTY)))
                .hasMessageContaining("still starting");
    }

    @Test
    void aRunSaysWhetherTheSandboxWasResumedForIt() {
        sandboxes.addRunning("box");
        Run run = of(actions.runs().run(BOX, code("print 42"), new Absent.Refused(), PATIENT));
        assertThat(run.result().stdout()).isEqualTo("42");
        assertThat(run.resumed()).isNull();
        assertThat(run.unreached()).isEmpty();

        sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        assertThat(of(actions.runs().run(BOX, code("print 42"), new Absent.Refused(), PATIENT))
                        .resumed())
                .isEqualTo(new Resumed("Idle"));
    }

    @Test
    void aResumptionThatOutlastsThePatienceIsAProblem() {
        sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        sandboxes.startsAnswer(Mono.never());
        assertThatThrownBy(() -> of(actions.runs().run(BOX, code("print 42"), new Absent.Refused(), HASTY)))
                .isInstanceOf(SandboxProblem.NotRunning.class);
    }

    @Test
    void whatIsReadOfAPodThatIsGoneSaysSo() {
        var box = new SandboxState.Running(new RunningSandbox(BOX, "uid-box", 2, "127.0.0.1", 5710));
        sandboxes.put(box);
        ExecutionId earlier = ExecutionId.random("default", "uid-box", 1);
        assertThat(of(actions.runs().read(TENANT, earlier, new Runs.Part(0, SOON, 100), OutputListener.NONE)))
                .isEqualTo(new Reading.PodGone(earlier, Optional.of(box), List.of()));
    }

    @Test
    void anInterruptSaysWhatItMet() {
        RunningSandbox box = sandboxes.addRunning("box");
        ExecutionId earlier = ExecutionId.random("default", box.uid(), box.incarnation() + 1);
        ExecutionId elsewhere = ExecutionId.random("default", "uid-other", 1);
        assertThat(of(actions.sessions().interrupt(BOX, earlier))).isEqualTo(new Interruption.OfEarlierPod());
        assertThat(of(actions.sessions().interrupt(BOX, elsewhere))).isEqualTo(new Interruption.OfAnotherSandbox());
    }

    @Test
    void aSessionOfASuspendedSandboxIsNotResumed() {
        sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        assertThatThrownBy(() -> of(actions.sessions().reset(BOX, new Session.Name("python", "default"))))
                .isInstanceOf(SandboxProblem.Asleep.class);
        assertThat(sandboxes.orders).isEmpty();
    }

    @Test
    void aFileSaysWhetherTheSandboxWasResumedForIt() {
        supervisor.files.put("a.txt", "hello");
        var whole = new FileActions.Part("a.txt", 0, 100);
        var missing = new FileActions.Part("b.txt", 0, 100);
        sandboxes.addRunning("box");
        assertThat(of(actions.files().view(BOX, whole, PATIENT))).isInstanceOfSatisfying(Used.Done.class, done -> {
            assertThat(done.resumed()).isNull();
            assertThat(done.value()).isInstanceOf(FileContent.Page.class);
        });
        assertThatThrownBy(() -> of(actions.files().read(BOX, missing, PATIENT)))
                .isInstanceOf(SandboxProblem.Refused.class);

        sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "MaxLifetime"));
        assertThat(of(actions.files().view(BOX, whole, PATIENT)))
                .isInstanceOfSatisfying(
                        Used.Done.class, done -> assertThat(done.resumed()).isEqualTo(new Resumed("MaxLifetime")));
        sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "MaxLifetime"));
        assertThat(of(actions.files().read(BOX, missing, PATIENT)))
                .isInstanceOfSatisfying(Used.Refused.class, refused -> assertThat(refused.resumed())
                        .isEqualTo(new Resumed("MaxLifetime")));
    }

    @Test
    void anOverviewHasNoAnswerOfWhatDoesNotRun() {
        RunningSandbox box = sandboxes.addRunning("box");
        var other = new SandboxRef("default", "sandglass-default", "other", "other");
        var stopped = new SandboxState.Stopped(other, "uid-other");
        sandboxes.put(stopped);
        List<SandboxState> all = actions.overview().find(new Selection.All(List.of(TENANT), Optional.empty()));

        assertThat(of(actions.overview().metrics(all, SOON)).entries())
                .satisfiesExactly(
                        running -> {
                            assertThat(running.state()).isEqualTo(new SandboxState.Running(box));
                            assertThat(running.answer()).isPresent();
                        },
                        still -> assertThat(still).isEqualTo(new Overview.Entry<>(stopped, Optional.empty())));
        assertThat(actions.overview().find(new Selection.All(List.of(TENANT), Optional.of("other"))))
                .containsExactly(stopped);
        var none = new SandboxRef("default", "sandglass-default", "none", "none");
        assertThatThrownBy(() -> actions.overview().find(new Selection.One(none)))
                .isInstanceOf(SandboxProblem.NotFound.class);
    }
}
