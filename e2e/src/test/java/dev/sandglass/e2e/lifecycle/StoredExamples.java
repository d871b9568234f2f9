package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.lifecycle.ExamplesE2E.Example;
import dev.sandglass.e2e.support.Kubectl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** The examples with files from outside, or with files that stay. */
record StoredExamples(Kubectl kubectl) {

    /** A second sandbox, for what sandboxes share. */
    static final String WRITER = "example-writer";

    /** The Secret of a tool server. */
    static final String KEY = "sandglass-mcp-search";

    private static final String CLAIM = """
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "shared-data"},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Mi"}}}}
            """;

    private void applied(Example example) {
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(example.name());
    }

    private static String text(Example example) {
        try {
            return Files.readString(example.file());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String shell(String sandbox, String script) {
        return kubectl.in(sandbox, "sh", "-c", script);
    }

    private void cannotWrite(String sandbox, String file) {
        assertThatThrownBy(() -> shell(sandbox, "echo x > " + file)).hasMessageContaining("Read-only file system");
    }

    void sharesFiles(Example example) {
        kubectl.apply(CLAIM);
        String writing = text(example)
                .replace("name: " + example.name(), "name: " + WRITER)
                .replace("readOnly: true", "readOnly: false");
        kubectl.apply(writing);
        kubectl.awaitReady(WRITER);
        shell(WRITER, "echo shared > /data/note");

        applied(example);

        assertThat(shell(example.name(), "cat /data/note && echo x > /scratch/x && ls /scratch"))
                .isEqualTo("shared\nx\n");
        cannotWrite(example.name(), "/data/note");
        kubectl.run("delete", "sandboxes.sandglass.dev", WRITER);
        kubectl.apply(writing.replace("      readOnly: false\n", ""));
        kubectl.awaitReady(WRITER);
        cannotWrite(WRITER, "/data/note");
    }

    void waitsForWhatItMounts(Example example) {
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReason(example.name(), "Ready", "VolumeMissing");
        assertThat(kubectl.told(example.name(), "Ready")).contains("settings");
        assertThat(example.commands()).hasSize(3);

        example.commands().forEach(kubectl::run);
        kubectl.awaitReady(example.name());

        assertThat(shell(example.name(), "cat /settings/level")).isEqualTo("debug");
        assertThat(shell(example.name(), "cat /token/token")).isEqualTo("...");
    }

    void waitsForItsKey(Example example) {
        String child = example.name() + "-mcp";
        kubectl.run("apply", "-f", example.file().toString());
        await("the Sandbox of the server").atMost(Duration.ofMinutes(2)).until(() -> !kubectl.run(
                        "get", "sandboxes.sandglass.dev", child, "--ignore-not-found", "--output=name")
                .isEmpty());
        kubectl.awaitReason(child, "Ready", "VolumeMissing");
        assertThat(kubectl.told(child, "Ready")).contains(KEY, "authorization");

        assertThat(example.commands()).hasSize(1);
        example.commands().forEach(this::runWithHeader);
        kubectl.run(
                "wait",
                "--for=condition=Ready",
                "sandboxtoolservers.sandglass.dev/" + example.name(),
                "--timeout=200s");
    }

    private void runWithHeader(String[] command) {
        try {
            Path header = Files.writeString(Files.createTempFile("header", ".txt"), "Bearer an-example");
            try {
                kubectl.run(Stream.of(command)
                        .map(word -> word.replace("header.txt", header.toString()))
                        .toArray(String[]::new));
            } finally {
                Files.delete(header);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void keepsItsWorkspace(Example example) {
        String name = example.name();
        applied(example);
        shell(name, "echo kept > /workspace/note && mkdir -p ~/.local/lib && echo too > ~/.local/lib/package");

        kubectl.patch(name, "{\"suspended\":true}");
        kubectl.awaitReason(name, "Suspended", "Requested");
        kubectl.patch(name, "{\"suspended\":false}");
        kubectl.awaitReady(name);
        assertThat(shell(name, "cat /workspace/note ~/.local/lib/package")).isEqualTo("kept\ntoo\n");

        kubectl.run("delete", "sandboxes.sandglass.dev", name);
        applied(example);
        assertThat(kubectl.field(name, ".status.incarnation"))
                .as("it is a new sandbox")
                .isEqualTo("1");
        assertThat(shell(name, "cat /workspace/note")).isEqualTo("kept\n");

        kubectl.run("delete", "sandboxes.sandglass.dev", name);
        assertThat(example.commands()).hasSize(1);
        example.commands().forEach(kubectl::run);
        applied(example);
        assertThat(shell(name, "ls /workspace")).isEmpty();
    }
}
