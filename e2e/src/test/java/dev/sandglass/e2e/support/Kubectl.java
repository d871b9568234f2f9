package dev.sandglass.e2e.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * kubectl, as an administrator types it for the default tenant.
 *
 * @param program its path, or its name where it is on the PATH
 */
public record Kubectl(String program, Path kubeconfig) {

    private static final long PATIENCE_SECONDS = 240;

    public static Kubectl of(Installation installation) {
        String program = installation
                .ownNode()
                .map(node -> run(
                                        List.of(
                                                installation
                                                        .root()
                                                        .resolve("e2e/cluster/cluster")
                                                        .toString(),
                                                "tools"),
                                        "")
                                .strip()
                        + "/kubectl")
                .orElse("kubectl");
        return new Kubectl(program, installation.kubeconfig());
    }

    /** Its standard output; fails with what it said if it fails. */
    public String run(String... arguments) {
        var all = new ArrayList<>(List.of(program, "--kubeconfig=" + kubeconfig, "--namespace=" + Tenant.NAMESPACE));
        all.addAll(Arrays.asList(arguments));
        return run(all, "");
    }

    /** Applies a manifest. */
    public void apply(String manifest) {
        run(
                List.of(
                        program,
                        "--kubeconfig=" + kubeconfig,
                        "--namespace=" + Tenant.NAMESPACE,
                        "apply",
                        "--server-side",
                        "--force-conflicts",
                        "--filename=-"),
                manifest);
    }

    /** A field of a sandbox, as {@code -o jsonpath} finds it; empty if it has none. */
    public String field(String sandbox, String path) {
        return run("get", "sandboxes.sandglass.dev", sandbox, "--output=jsonpath={" + path + "}");
    }

    /** Reason and message of a sandbox's condition, with {@code : } between. */
    public String told(String sandbox, String condition) {
        return field(sandbox, ".status.conditions[?(@.type==\"" + condition + "\")].reason") + ": "
                + field(sandbox, ".status.conditions[?(@.type==\"" + condition + "\")].message");
    }

    /** What a program in the sandbox's pod prints. */
    public String in(String sandbox, String... program) {
        var all = new ArrayList<>(List.of("exec", field(sandbox, ".status.podName"), "--"));
        all.addAll(Arrays.asList(program));
        return run(all.toArray(String[]::new));
    }

    /** Also while the node has no room for it: the operator starts it when there is. */
    public void awaitReady(String sandbox) {
        run("wait", "--for=condition=Ready", "sandboxes.sandglass.dev/" + sandbox, "--timeout=200s");
    }

    public void awaitReason(String sandbox, String condition, String reason) {
        Awaitility.await("%s with reason %s".formatted(condition, reason))
                .atMost(Duration.ofMinutes(2))
                .until(() -> told(sandbox, condition), told -> told.startsWith(reason + ": "));
    }

    public void patch(String sandbox, String spec) {
        run("patch", "sandboxes.sandglass.dev", sandbox, "--type=merge", "--patch={\"spec\":" + spec + "}");
    }

    private static String run(List<String> command, String input) {
        try {
            Process process = new ProcessBuilder(command).start();
            var errors = new StringBuilder();
            Thread reader = Thread.startVirtualThread(() -> errors.append(text(process.getErrorStream())));
            try (OutputStream in = process.getOutputStream()) {
                in.write(input.getBytes(StandardCharsets.UTF_8));
            }
            String output = text(process.getInputStream());
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            reader.join();
            if (process.waitFor() != 0) {
                throw new AssertionError(String.join(" ", command) + " failed:\n" + errors + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String text(InputStream stream) {
        try (stream) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
