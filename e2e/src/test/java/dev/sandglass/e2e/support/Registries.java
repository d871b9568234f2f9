package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
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

    /** All of them, for {@code allowed_domains}. */
    public List<String> all() {
        return List.of(pythonIndex, pythonFiles, npm);
    }
}
