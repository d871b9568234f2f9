package dev.sandglass.gateway.execution;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.testing.TrainedProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;

/** A real supervisor as a process on localhost, with its kernel: what runs in a sandbox's pod. */
public final class SupervisorProcess implements AutoCloseable {

    /** The link secret that its keys are derived from. */
    public static final LinkSecret SECRET =
            new LinkSecret("a link secret of 32 bytes for tests only".getBytes(StandardCharsets.US_ASCII));

    private static final String LOCALHOST = "127.0.0.1";
    private static final @Nullable String PYTHON_OVERRIDE = System.getenv("SANDGLASS_TEST_PYTHON");

    private final String uid = UUID.randomUUID().toString();
    private final int port;
    private final Path folder;
    private final Map<String, String> settings;
    private Process process;

    private SupervisorProcess(Map<String, String> settings) {
        try {
            this.folder = Files.createTempDirectory("sg");
            this.port = TrainedProgram.freePort();
            this.settings = settings;
            this.process = launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // Tests that are broken off leave nothing behind.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> process.destroyForcibly()));
    }

    /** Starts one; it may not listen yet. */
    public static SupervisorProcess start() {
        return new SupervisorProcess(Map.of());
    }

    /** Starts one with further environment variables. */
    public static SupervisorProcess start(Map<String, String> settings) {
        return new SupervisorProcess(settings);
    }

    /** The sandbox that it serves. */
    public RunningSandbox sandbox() {
        return sandbox(1);
    }

    /** The same place under another incarnation: other keys. */
    public RunningSandbox sandbox(int incarnation) {
        SandboxRef ref = new SandboxRef("default", "sandglass-default", "test", "test");
        return new RunningSandbox(ref, uid, incarnation, LOCALHOST, port);
    }

    /** The supervisor's process. */
    public ProcessHandle handle() {
        return process.toHandle();
    }

    /** Kills it hard and starts another one at the same place. */
    public void restart() {
        kill();
        try {
            process = launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills it hard. */
    public void kill() {
        end(process.destroyForcibly());
    }

    /** Working folder of code and commands. */
    public Path workspace() {
        return folder.resolve("workspace");
    }

    @Override
    public void close() {
        process.destroy();
        end(process);
        // Its kernels end a moment later, and may still write to its folder, or remove what is there.
        await("its folder to be gone").ignoreExceptions().until(() -> {
            FileSystemUtils.deleteRecursively(folder);
            return Files.notExists(folder);
        });
    }

    private Process launch() throws IOException {
        LinkKeys keys = LinkKeys.derive(SECRET, uid, 1);
        Files.createDirectories(folder.resolve("run"));
        Files.createDirectories(workspace());
        ProcessBuilder builder = new ProcessBuilder(python(), "-I", "-m", "sandglass_supervisor")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        folder.resolve("supervisor.log").toFile()));
        builder.environment()
                .putAll(Map.of(
                        "SANDGLASS_LINK_SECRET_KEY", keys.pod().secretZ85(),
                        "SANDGLASS_GATEWAY_PUBLIC_KEY", keys.gateway().publicZ85(),
                        "SANDGLASS_LINK_ADDRESS", LOCALHOST,
                        "SANDGLASS_LINK_PORT", Integer.toString(port),
                        "SANDGLASS_RUNTIME_DIR", folder.resolve("run").toString(),
                        "SANDGLASS_WORKSPACE", workspace().toString(),
                        "SANDGLASS_SANDBOX_UID", uid,
                        "SANDGLASS_INCARNATION", "1"));
        builder.environment().putAll(settings);
        return builder.start();
    }

    private static String python() {
        return PYTHON_OVERRIDE != null ? PYTHON_OVERRIDE : Prepared.PYTHON;
    }

    private static void end(Process process) {
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                process.waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The Python that the kernel image's own checks use; prepared once. */
    private static final class Prepared {
        private static final String PYTHON = prepare();

        private static String prepare() {
            Path script = script();
            try {
                Process check = new ProcessBuilder(script.toString(), "--venv")
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
                try (BufferedReader out = check.inputReader()) {
                    String path = out.readLine();
                    if (check.waitFor() == 0 && path != null) {
                        return path;
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new IllegalStateException("'kernel-image/check --venv' failed, so there is no Python to run the"
                    + " supervisor with. Run it by hand to see why; it says what is missing.");
        }

        private static Path script() {
            for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
                Path script = at.resolve("kernel-image/check");
                if (Files.isExecutable(script)) {
                    return script;
                }
            }
            throw new IllegalStateException(
                    "kernel-image/check was not found above " + Path.of("").toAbsolutePath());
        }
    }
}
