package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Reason;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an image lacks to be a sandbox, by the words with which container runtimes refuse to start the supervisor and with
 * which it refuses to run. Everything else that ends a container is none of the image's faults.
 */
final class ImageFault {

    /** What the supervisor ends with when it lacks something, which it names in a line of the log. */
    private static final int LACKS_SOMETHING = 3;

    private static final Pattern LACKS = Pattern.compile("(?m)^image-lacks: (.{1,200})$");

    private static final Pattern NO_SUPERVISOR =
            Pattern.compile("\\A\\S*python3\\S*: No module named sandglass_supervisor\\s*\\z");

    /** All that a runtime writes to the log when it cannot become the program. */
    private static final Pattern EXEC_FAILED = Pattern.compile(
            "\\Aexec \\S{1,200}: (exec format error|no such file or directory|permission denied)\\s*\\z");

    /** Of a container that never ran; its start is the epoch, or is left out. */
    private static final Set<String> START_FAILED = Set.of("StartError", "ContainerCannotRun");

    private static final String ADVICE = "; build your image FROM the installation's image, or install Python 3.10 or"
            + " newer and the package sandglass-supervisor in it (docs/own-images.md)";

    private record Words(Pattern said, String means) {}

    /** What runc, crun and gVisor say of a program that they cannot start. */
    private static final List<Words> REFUSALS = List.of(
            words("executable file .{0,80}not found|error finding executable", "it has no program python3 in its PATH"),
            words(
                    "exec format error",
                    "its python3 is built for another processor architecture than the node's (exec format error)"),
            words(
                    "exec:? \\S*python3\\S*: no such file or directory",
                    "its python3 cannot run because its loader or interpreter is missing (no such file or directory)"),
            words(
                    "exec:? \\S*python3\\S*: permission denied",
                    "its python3 cannot be run by a non-root user (permission denied)"));

    private ImageFault() {}

    /** The cause, if a container could not be started for a fault of its image; the words are the runtime's. */
    static Optional<ContainerEnd> ofRefusal(Pod pod, String words) {
        return REFUSALS.stream()
                .filter(known -> known.said().matcher(words).find())
                .findFirst()
                .map(known -> cause(pod, known.means()));
    }

    /**
     * The cause, if a container ended for a fault of its image. What is said of a container that ran is believed only where
     * code cannot have written it: its log is the supervisor's, and so must be the file for its last words.
     */
    static Optional<ContainerEnd> of(Pod pod, ContainerStateTerminated end) {
        String words = Optional.ofNullable(end.getMessage()).orElse("");
        int exit = Optional.ofNullable(end.getExitCode()).orElse(0);
        if (exit == 0) {
            return Optional.empty();
        }
        if (START_FAILED.contains(end.getReason())) {
            return ofRefusal(pod, words);
        }
        if (!SandboxContainer.hidesLastWords(pod)) {
            return Optional.empty();
        }
        Matcher lacks = LACKS.matcher(words);
        if (exit == LACKS_SOMETHING && lacks.find()) {
            return Optional.of(cause(pod, "it lacks " + lacks.group(1).strip()));
        }
        if (NO_SUPERVISOR.matcher(words).find()) {
            return Optional.of(cause(pod, "its python3 does not have the package sandglass-supervisor"));
        }
        return EXEC_FAILED.matcher(words).find() ? ofRefusal(pod, words) : Optional.empty();
    }

    private static ContainerEnd cause(Pod pod, String means) {
        // As the pod names it: its status may name another tag of the same image.
        String image = SandboxContainer.container(pod).map(Container::getImage).orElse("of the sandbox");
        return new ContainerEnd(
                Reason.IMAGE_UNUSABLE, "the image " + image + " cannot be a sandbox: " + means + ADVICE);
    }

    private static Words words(String said, String means) {
        return new Words(Pattern.compile(said, Pattern.CASE_INSENSITIVE), means);
    }
}
