package dev.sandglass.e2e.toolserver;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Kubectl;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/**
 * The server of {@link Sums} as a resource that an administrator applies.
 *
 * @param name of the resource
 */
record SharedServer(Kubectl kubectl, String name) {

    private static final String KIND = "sandboxtoolservers.sandglass.dev";

    /** Several of them have room on a small node. */
    private static final Map<String, Object> SMALL = Map.of("cpus", "100m");

    /** Applies it with a variable for the server, and more fields of the spec. */
    void apply(String variable, String value, Map<String, Object> more) {
        applyStdio(Sums.SERVER, Map.of("name", variable, "value", value), more);
    }

    /** The same with a value that comes from a Secret. */
    void applyKeyed(String variable, String secret, String key) {
        applyStdio(Sums.SERVER, fromSecret(variable, secret, key), SMALL);
    }

    /** Applies it with another program in Python, and a variable that comes from a Secret. */
    void applyKeyed(String program, String variable, String secret, String key) {
        applyStdio(program, fromSecret(variable, secret, key), SMALL);
    }

    /** Applies it with an address, and a header that comes from a Secret. */
    void applyKeyedUrl(String url, String header, String secret, String key) {
        var spec = new HashMap<>(SMALL);
        spec.put("http", Map.of("url", url, "headers", List.of(fromSecret(header, secret, key))));
        applySpec(spec);
    }

    private static Map<String, Object> fromSecret(String name, String secret, String key) {
        return Map.of("name", name, "valueFrom", Map.of("secretKeyRef", Map.of("name", secret, "key", key)));
    }

    private void applyStdio(String program, Map<String, Object> variable, Map<String, Object> more) {
        var spec = new HashMap<>(more);
        spec.put("stdio", Map.of("command", "python3", "args", List.of("-c", program), "env", List.of(variable)));
        applySpec(spec);
    }

    private void applySpec(Map<String, Object> spec) {
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

    /** Applies it with another program in Python, and no variable. */
    void applyProgram(String program) {
        var spec = new HashMap<>(SMALL);
        spec.put("stdio", Map.of("command", "python3", "args", List.of("-c", program)));
        applySpec(spec);
    }

    /** The same with an argument for it, and with more fields of the spec. */
    void applyProgram(String program, String argument, Map<String, Object> more) {
        var spec = new HashMap<>(more);
        spec.put("stdio", Map.of("command", "python3", "args", List.of("-c", program, argument)));
        applySpec(spec);
    }

    void awaitReady() {
        await("Ready=True");
    }

    /** Until a condition has that status, as in {@code Ready=True}. */
    void await(String condition) {
        kubectl.run("wait", "--for=condition=" + condition, KIND + "/" + name, "--timeout=180s");
    }

    /**
     * Until code of that sandbox is answered: right after it was applied a gateway may not know it yet, and the node may have
     * no room for its pod, or start it slowly.
     */
    void awaitAnswer(Agent agent, String sandbox) {
        String code = "import mcptools; print(mcptools.call('%s', 'greet', {'name': 'Ann'}))"
                .formatted(name.replace('-', '_'));
        Awaitility.await("an answer of " + name)
                .atMost(Duration.ofMinutes(5))
                .until(() -> agent.python(sandbox, code).text(), answer -> answer.contains(", Ann"));
    }

    /** A field, as {@code -o jsonpath} finds it; empty if it has none. */
    String field(String path) {
        return kubectl.run("get", KIND, name, "--output=jsonpath={" + path + "}");
    }

    /** As {@code kubectl get} shows it. */
    String shown() {
        return kubectl.run("get", KIND, name);
    }

    /** The same with the message. */
    String shownWide() {
        return kubectl.run("get", KIND, name, "--output=wide");
    }

    /** The Sandbox in which it runs. */
    String child() {
        return name + "-mcp";
    }

    void delete() {
        kubectl.run("delete", KIND, name, "--ignore-not-found");
    }
}
