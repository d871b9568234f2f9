package dev.sandglass.e2e.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The node of the project's own cluster, entered as its administrator would.
 *
 * @param root the project's root
 */
public record Node(Path root) {

    /** Runs a command in the node's namespaces; its standard output. */
    public String run(String... command) {
        var all = new ArrayList<>(List.of("exec", "--"));
        all.addAll(List.of(command));
        return cluster(all);
    }

    /** Kills a service of the node and waits until the cluster can be used again. */
    public void restart(String service) {
        cluster(List.of("restart", service));
    }

    private List<String> line(List<String> command) {
        var all = new ArrayList<>(List.of(root.resolve("e2e/cluster/cluster").toString()));
        all.addAll(command);
        return all;
    }

    private String cluster(List<String> command) {
        List<String> all = line(command);
        try {
            Process process = new ProcessBuilder(all).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(String.join(" ", all) + " failed:\n" + output + errors);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /**
     * Memory of a pod as the kernel accounts it: the working set of its cgroup, which is what the kubelet and the limits
     * go by. Cgroup v1 and v2.
     */
    public long workingSetOf(String podUid) {
        return Long.parseLong(
                run("python3", "-I", script("working-set.py"), podUid).trim());
    }

    /** Kills every process of a container at once, the way a crash or the OOM killer does: no goodbye, no grace. */
    public void crash(String containerId) {
        run("python3", "-I", script("crash.py"), containerId.replaceFirst("^.*://", ""));
    }

    /** Takes a container's pod off the network for so long; returns when it is back. */
    public void cutNetwork(String containerId, Duration duration) {
        whileCut(containerId, duration, () -> null);
    }

    /** The same, and does something that begins when the network is gone for sure. */
    public <T> T whileCut(String containerId, Duration duration, Supplier<T> deed) {
        List<String> command = line(List.of(
                "exec",
                "--",
                "python3",
                "-I",
                script("cut-network.py"),
                containerId.replaceFirst("^.*://", ""),
                Long.toString(duration.toSeconds())));
        try {
            Process cut = new ProcessBuilder(command).redirectErrorStream(true).start();
            try (BufferedReader said = cut.inputReader(StandardCharsets.UTF_8)) {
                String first = said.readLine();
                if (!"cut".equals(first)) {
                    throw new IllegalStateException("the network was not cut: " + first);
                }
                return deed.get();
            } finally {
                cut.waitFor();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String script(String name) {
        return root.resolve("e2e/node").resolve(name).toString();
    }
}
