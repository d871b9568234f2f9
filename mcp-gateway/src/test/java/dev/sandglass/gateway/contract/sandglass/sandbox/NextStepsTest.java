package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.NextStep.FreeCapacity.Idle;
import dev.sandglass.gateway.sandbox.NextStep.RunCommand.Purpose;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What to do next in the words of our own tools: models learnt them. */
class NextStepsTest {

    private static final SandboxRef BOX = new SandboxRef("default", "sandboxes-default", "box", "box");
    private static final String FULL = "Sandbox 'x' cannot start (Unschedulable): No node has enough free CPU for it";

    @Test
    void aProblemEndsWithWhatToDo() {
        assertThat(NextSteps.told(new SandboxProblem.NotFound("box", "default")))
                .isEqualTo(
                        "Sandbox 'box' not found in namespace 'default'. Call sandbox_start with this name to create it.");
        assertThat(NextSteps.told(SandboxProblem.NotRunning.stopped(BOX)))
                .isEqualTo("Sandbox 'box' is not running: it was stopped. Call sandbox_start with this name first.");
        assertThat(NextSteps.told(SandboxProblem.NotRunning.resuming(BOX, Optional.of("Idle"))))
                .isEqualTo("Sandbox 'box' is not running: it was suspended and is still being resumed (Idle)."
                        + " Call sandbox_start with this name to wait for it, then repeat this call; variables of earlier"
                        + " calls are lost.");
        assertThat(NextSteps.told(new SandboxProblem.Refused("No."))).isEqualTo("No.");
    }

    @Test
    void someStepsGoOnWithTheSentence() {
        assertThat(NextSteps.told("There is no file 'a'.", NextStep.Plain.LIST_FILES))
                .isEqualTo("There is no file 'a'; sandbox_list_files shows what there is.");
        assertThat(NextSteps.told("This sandbox has no network to 'a'.", new NextStep.AllowHosts(List.of("a"))))
                .startsWith("This sandbox has no network to 'a': 'allowed_domains' of sandbox_start's 'config'"
                        + " (spec.allowedDomains of the Sandbox) does not cover it. Without it, wheels");
    }

    @Test
    void aStepThatFreesCapacityNamesTheSandboxesThatAreIdleLongest() {
        assertThat(NextSteps.told(
                        FULL,
                        free(
                                14,
                                new Idle("tests-2", Duration.ofMinutes(155)),
                                new Idle("My_Box", Duration.ofSeconds(3_599)),
                                new Idle("c", Duration.ofHours(1)))))
                .isEqualTo(FULL + "; 14 other sandboxes run in namespace 'default', idle longest: 'tests-2' (at least"
                        + " 2 h 35 min), 'My_Box' (at least 59 min), 'c' (at least 1 h 0 min). Stop one that is not needed"
                        + " with sandbox_stop, then call sandbox_start again.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 other sandbox runs in namespace 'default', not known to be idle.",
                "40 | 40 other sandboxes run in namespace 'default', none of them known to be idle."
            })
    void aStepThatFreesCapacityWithoutKnownIdleSandboxesNamesNone(int running, String count) {
        assertThat(NextSteps.told(FULL, free(running)))
                .isEqualTo(FULL + "; " + count
                        + " Stop one that is not needed with sandbox_stop, then call sandbox_start again.");
    }

    @Test
    void aStepThatFreesCapacityWithoutOtherSandboxesAsksToWait() {
        assertThat(NextSteps.told(FULL, free(0)))
                .isEqualTo(FULL + "; no other sandbox runs in namespace 'default', so there is none to stop. Call"
                        + " sandbox_start again later.");
    }

    private static NextStep.FreeCapacity free(int running, Idle... idle) {
        return new NextStep.FreeCapacity("default", running, List.of(idle));
    }

    @Test
    void aCommandIsSaidWithItsTool() {
        assertThat(NextSteps.told(
                        "There is no interpreter.", new NextStep.RunCommand(Purpose.MAKE, "python3 -m venv a")))
                .isEqualTo("There is no interpreter. Make one with: sandbox_run_command 'python3 -m venv a'.");
        assertThat(NextSteps.told("Old.", new NextStep.RunCommand(Purpose.UPGRADE, "x")))
                .isEqualTo("Old. Upgrade with: sandbox_run_command 'x'.");
        assertThat(NextSteps.told("", new NextStep.RunCommand(Purpose.INSTALL, "x")))
                .isEqualTo("Install with: sandbox_run_command 'x'.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "READ | /etc/x | To read it, copy it first: sandbox_run_command 'cp -rL /etc/x /workspace/'.",
                "READ | ../run/x | To read it, copy it first: sandbox_run_command 'cp -rL /workspace/../run/x"
                        + " /workspace/x.copy'.",
                "READ | links/etc/x | To read it, copy it first: sandbox_run_command 'cp -rL /workspace/links/etc/x"
                        + " /workspace/x.copy'.",
                "READ | /tmp/a b$(id)\" | To read it, copy it first: sandbox_run_command"
                        + " 'cp -rL \"/tmp/a b\\$(id)\\\"\" /workspace/'.",
                "LOOK | /etc | To look at it: sandbox_run_command 'ls -la /etc'.",
                "WRITE | /tmp/out/x | Write /workspace/x, then copy it there: sandbox_run_command"
                        + " 'cp /workspace/x /tmp/out/x'.",
                "WRITE | links/etc/x | Write to another path of the workspace.",
                "MAKE_FOLDER | /tmp/d | To make it: sandbox_run_command 'mkdir -p /tmp/d'.",
                "CHANGE | /tmp/d | Use sandbox_run_command with mv or rm there.",
                "READ | / | Use sandbox_run_command there.",
                "READ | ~/../x | Use sandbox_run_command there.",
                "READ | /tmp/a\u202eb | Use sandbox_run_command there.",
            })
    void aPathThatLeadsOutComesWithTheCommandThatGoesThere(SandboxProblem.Outside.Deed deed, String path, String way) {
        assertThat(NextSteps.told(new SandboxProblem.Outside("It leads out.", deed, path)))
                .isEqualTo("It leads out. " + way);
    }

    @Test
    void aLongPathStandsInNoCommand() {
        var outside = new SandboxProblem.Outside("It.", SandboxProblem.Outside.Deed.READ, "/" + "a".repeat(300));

        assertThat(NextSteps.told(outside)).isEqualTo("It. Use sandbox_run_command there.");
    }

    /** A caller sends such a path in one call: none may take the event loop for minutes. */
    @Test
    void aPathOfSlashesTakesNoTime() {
        var outside =
                new SandboxProblem.Outside("It.", SandboxProblem.Outside.Deed.READ, "/" + "/".repeat(1_000_000) + "a");

        assertTimeoutPreemptively(Duration.ofSeconds(5), () -> assertThat(NextSteps.told(outside))
                .isEqualTo("It. Use sandbox_run_command there."));
    }

    /** Apart from the one that names an argument, each names a tool. */
    @ParameterizedTest
    @EnumSource(value = NextStep.Plain.class, names = "MORE_TIME", mode = EnumSource.Mode.EXCLUDE)
    void everyStepNamesATool(NextStep.Plain step) {
        assertThat(NextSteps.told("It is so.", step)).startsWith("It is so").containsAnyOf("sandbox_", "mcp_");
    }
}
