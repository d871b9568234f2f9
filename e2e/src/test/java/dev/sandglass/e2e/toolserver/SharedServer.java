package dev.sandglass.e2e.toolserver;

import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Kubectl;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The server of {@link Sums} as a resource that an administrator applies.
 *
 * @param name of the resource
 */
record SharedServer(Kubectl kubectl, String name) {

    private static final String KIND = "sandboxtoolservers.sandglass.dev";

    /** Applies it with a variable for the server, and more fields of the spec. */
    void apply(String variable, String value, Map<String, Object> more) {
        var spec = new HashMap<>(more);
        List<Map<String, String>> env = List.of(Map.of("name", variable, "value", value));
        spec.put("stdio", Map.of("command", "python3", "args", List.of("-c", Sums.SERVER), "env", env));
        kubectl.apply(Attack.json(Map.of(
                "apiVersion",
                "sandglass.dev/v1alpha1",
                "kind",
                "SandboxToolServer",
                "metadata",
                Map.of("name", name),
                "spec",
                spec)));
    }

    void awaitReady() {
        kubectl.run("wait", "--for=condition=Ready", KIND + "/" + name, "--timeout=90s");
    }

    /** As {@code kubectl get} shows it. */
    String shown() {
        return kubectl.run("get", KIND, name);
    }

    /** The Sandbox in which it runs. */
    String child() {
        return name + "-mcp";
    }

    void delete() {
        kubectl.run("delete", KIND, name, "--ignore-not-found");
    }
}
