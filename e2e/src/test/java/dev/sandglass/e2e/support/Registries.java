package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * Hosts that a sandbox's own installers ask, as they themselves say; no name of one stands in our tree. They are the only
 * names that are sure to resolve wherever these tests run.
 *
 * @param pythonIndex where pip looks packages up
 * @param pythonFiles where pip loads them from
 * @param npm the registry of npm
 */
public record Registries(String pythonIndex, String pythonFiles, String npm) {

    /** As the installers of that sandbox say. */
    public static Registries knownTo(Agent agent, String sandbox) {
        List<String> python = agent.command(
                        sandbox,
                        "python3",
                        "-c",
                        "from pip._internal.models.index import PyPI as i; print(i.netloc, i.file_storage_domain)")
                .stdout()
                .lines()
                .flatMap(line -> List.of(line.split(" ")).stream())
                .toList();
        assertThat(python).hasSize(2);
        String npm = agent.command(sandbox, "npm", "config", "get", "registry").stdout();
        return new Registries(
                python.getFirst(), python.getLast(), URI.create(npm.strip()).getHost());
    }

    /** Returns once that sandbox may ask these hosts: each proxy hears of a list a moment after it was written. */
    public static void awaitAllowed(Agent agent, String sandbox, List<String> hosts) {
        for (String host : hosts) {
            await("the list of allowed hosts").atMost(Duration.ofMinutes(1)).until(() -> !agent.command(
                            sandbox, "curl", "-sS", "-D", "-", "-o", "/dev/null", "https://" + host + "/")
                    .stdout()
                    .contains("X-Proxy-Error: not-allowed"));
        }
    }

    /** All of them, for {@code allowed_domains}. */
    public List<String> all() {
        return List.of(pythonIndex, pythonFiles, npm);
    }
}
