package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * {@code kubectl apply -f} of every example does what the comment at its top says. Nothing but kubectl and the API is used:
 * no agent, no tool.
 */
class ExamplesE2E {

    private static final Path EXAMPLES = Path.of("../crds/examples");
    private static final Pattern NAME = Pattern.compile("(?m)^  name: (.*)$");
    private static final Pattern COMMAND = Pattern.compile("(?m)^#   kubectl (.*)$");

    private final Installation installation = Installation.current();
    private final Kubectl kubectl = Kubectl.of(installation);

    /**
     * One example, applied.
     *
     * @param name of its sandbox
     * @param commands those that its comment tells the reader to type, without the word kubectl
     */
    record Example(Path file, String name, List<String[]> commands) {

        static Example of(Path file) {
            try {
                String text = Files.readString(file);
                String name =
                        NAME.matcher(text).results().findFirst().orElseThrow().group(1);
                List<String[]> commands = COMMAND.matcher(text)
                        .results()
                        .map((MatchResult found) -> found.group(1).split(" "))
                        .toList();
                return new Example(file, name, commands);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private Map<String, Consumer<Example>> rows() {
        var plain = new PlainExamples(kubectl);
        var stored = new StoredExamples(kubectl);
        var reached = new ReachedExamples(kubectl, installation);
        return Map.ofEntries(
                Map.entry("minimal.yaml", plain::runs),
                Map.entry("sized.yaml", plain::hasItsSizeAndVariables),
                Map.entry("suspended.yaml", plain::waitsForItsTurn),
                Map.entry("tool-server.yaml", plain::hasItsSandbox),
                Map.entry("pool.yaml", plain::keepsItsSeats),
                Map.entry("tool-server-secret.yaml", stored::waitsForItsKey),
                Map.entry("short-lived.yaml", plain::livesByItsOwnDeadlines),
                Map.entry("long-running.yaml", plain::livesForDays),
                Map.entry("volume-claim.yaml", stored::sharesFiles),
                Map.entry("volume-config.yaml", stored::waitsForWhatItMounts),
                Map.entry("workspace.yaml", stored::keepsItsWorkspace),
                Map.entry("ports.yaml", reached::servesItsPort),
                Map.entry("allowed-domains.yaml", reached::reachesItsHosts),
                Map.entry("no-network.yaml", reached::reachesNothing),
                Map.entry("allowed-address.yaml", reached::mayCallItsAddress),
                Map.entry("storage-class.yaml", reached::keepsItsFilesInTheClass),
                Map.entry("own-image.yaml", reached::runsAnImageOfItsOwn),
                Map.entry("runtime-class.yaml", reached::runsWithTheRuntimeClass));
    }

    private static Set<String> files() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void everyExampleHasARow() throws IOException {
        assertThat(files()).isEqualTo(new TreeSet<>(rows().keySet()));
    }

    @TestFactory
    Stream<DynamicTest> everyExampleDoesWhatItsCommentSays() {
        return rows().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(row -> DynamicTest.dynamicTest(row.getKey(), () -> {
                    Example example = Example.of(EXAMPLES.resolve(row.getKey()));
                    remove(example);
                    try {
                        row.getValue().accept(example);
                    } finally {
                        remove(example);
                    }
                }));
    }

    /** With all that the rows make besides; a run that was cut off may have left it. */
    private void remove(Example example) {
        kubectl.run("delete", "sandboxtoolservers.sandglass.dev", example.name(), "--ignore-not-found");
        kubectl.run("delete", "sandboxpools.sandglass.dev", example.name(), "--ignore-not-found");
        kubectl.run("delete", "sandboxes.sandglass.dev", example.name(), StoredExamples.WRITER, "--ignore-not-found");
        kubectl.run("delete", "configmap,secret", "settings", "mountable-token", "--ignore-not-found");
        kubectl.run("delete", "secret", StoredExamples.KEY, "--ignore-not-found");
        kubectl.run("delete", "pvc", "shared-data", "workspace-notebook", "--ignore-not-found");
        Optional.of(installation)
                .flatMap(Installation::ownNode)
                .ifPresent(node ->
                        kubectl.run("delete", "runtimeclass/gvisor", "storageclass/fast", "--ignore-not-found"));
    }
}
