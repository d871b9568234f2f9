package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerStateTerminatedBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What container runtimes and Python say of images that cannot be sandboxes, and what comes near it. */
class ImageFaultTest {

    private static final Pod POD = new PodBuilder()
            .withNewSpec()
            .addNewContainer()
            .withName(SandboxContainer.NAME)
            .withImage("registry.example.com/agents/kernel:1")
            .withTerminationMessagePath("/root/termination-log")
            .withNewResources()
            .withLimits(Map.of("memory", new Quantity("512Mi")))
            .endResources()
            .endContainer()
            .endSpec()
            .build();

    private static ContainerEnd end(String reason, int exit, String message) {
        return ContainerEnd.of(
                POD,
                new ContainerStateTerminatedBuilder()
                        .withReason(reason)
                        .withExitCode(exit)
                        .withMessage(message)
                        .build());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "StartError | 128 | runc create failed: unable to start container process: error during container init: exec:"
                        + " \"python3\": executable file not found in $PATH: unknown | no program python3",
                "StartError | 128 | container create failed: executable file `python3` not found in $PATH: No such file or"
                        + " directory | no program python3",
                "StartError | 128 | starting container: error finding executable \"python3\" in PATH [/usr/bin]: no such file"
                        + " or directory | no program python3",
                "Error | 255 | exec /usr/bin/python3: exec format error | another processor architecture",
                "StartError | 128 | crun: exec container process `/usr/bin/python3`: Exec format error | another processor architecture",
                "Error | 255 | exec /usr/bin/python3: no such file or directory | loader or interpreter is missing",
                "StartError | 128 | error during container init: exec: \"/usr/bin/python3\": permission denied | non-root user",
                "Error | 255 | exec /usr/bin/python3: permission denied | non-root user",
                "Error | 1 | /usr/bin/python3: No module named sandglass_supervisor | does not have the package"
                        + " sandglass-supervisor",
                "Error | 3 | image-lacks: the Python package ipykernel 7.3 or newer: it has none | it lacks the Python"
                        + " package ipykernel 7.3 or newer: it has none",
            })
    void whatTheImageLacksIsNamed(String reason, int exit, String message, String means) {
        ContainerEnd end = end(reason, exit, message);

        assertThat(end.reason()).isEqualTo(Reason.IMAGE_UNUSABLE);
        assertThat(end.cause())
                .startsWith("the image registry.example.com/agents/kernel:1 cannot be a sandbox: ")
                .contains(means, "docs/own-images.md");
        assertThat(end.broken().message()).startsWith("The image ").doesNotContain("a fresh one starts");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "Error | 2 | image-lacks: everything", // not the supervisor's exit code
                "Error | 3 | he said image-lacks: everything",
                "Error | 1 | No module named sandglass_supervisor_two",
                "Error | 1 | PermissionError: [Errno 13] permission denied: /workspace",
                "Error | 1 | FileNotFoundError: no such file or directory",
                "Completed | 0 | /usr/bin/python3: No module named sandglass_supervisor",
                // What a supervisor's last words may quote of the code.
                "Error | 1 | OSError: [Errno 8] Exec format error: '/workspace/x'",
                "Error | 1 | exec /workspace/x: exec format error and more",
                "Error | 1 | ModuleNotFoundError: /x: No module named sandglass_supervisor; said x",
            })
    void otherEndsAreCrashes(String reason, int exit, String message) {
        assertThat(end(reason, exit, message).reason()).isEqualTo(Reason.CRASHED);
    }

    /** Code could write the file for last words in pods of earlier versions, and end the container then. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Error | 255 | exec /usr/bin/python3: exec format error",
                "Error | 1 | /usr/bin/python3: No module named sandglass_supervisor",
                "Error | 3 | image-lacks: everything",
            })
    void wordsThatCodeMayHaveWrittenAreNotBelieved(String reason, int exit, String message) {
        Pod former = new PodBuilder(POD)
                .editSpec()
                .editFirstContainer()
                .withTerminationMessagePath("/dev/termination-log")
                .endContainer()
                .endSpec()
                .build();
        var end = new ContainerStateTerminatedBuilder()
                .withReason(reason)
                .withExitCode(exit)
                .withMessage(message)
                .withStartedAt("2026-03-01T10:00:02Z")
                .build();

        assertThat(ContainerEnd.of(former, end).reason()).isEqualTo(Reason.CRASHED);
        assertThat(ContainerEnd.of(POD, end).reason()).as("control").isEqualTo(Reason.IMAGE_UNUSABLE);
    }

    @Test
    void whoRanOutOfMemoryIsToldSo() {
        assertThat(end("OOMKilled", 137, "").reason()).isEqualTo(Reason.OOM_KILLED);
    }

    /** Endless or odd words cost nothing and are not repeated. */
    @Test
    void theWordsOfTheSupervisorHaveABound() {
        ContainerEnd end = end("Error", 3, "image-lacks: " + "x".repeat(200));
        assertThat(end.reason()).isEqualTo(Reason.IMAGE_UNUSABLE);

        assertThat(end("Error", 3, "image-lacks: " + "x".repeat(201)).reason()).isEqualTo(Reason.CRASHED);
    }
}
