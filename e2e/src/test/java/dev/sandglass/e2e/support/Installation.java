package dev.sandglass.e2e.support;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The installation under test, as {@code make up} left it in {@code build/endpoint.env}.
 *
 * @param root the project's root
 * @param endpoint the MCP endpoint; its path is {@code /mcp}
 * @param token an API key for tenant {@code default}
 * @param kubeconfig of an administrator
 */
public record Installation(Path root, URI endpoint, String token, Path kubeconfig) {

    public static final String NAMESPACE = "sandglass-system";

    /** A label of all that the chart makes: tests run pods of their own in its namespace. */
    public static final String OF_CHART = "app.kubernetes.io/instance";

    public static Installation current() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("e2e/pom.xml"))) {
            root = Optional.ofNullable(root.getParent()).orElseThrow();
        }
        Path file = root.resolve("build/endpoint.env");
        Map<String, String> settings = read(file);
        return new Installation(
                root,
                URI.create(required(settings, "SANDGLASS_URL", file)),
                required(settings, "SANDGLASS_TOKEN", file),
                Path.of(required(settings, "KUBECONFIG", file)));
    }

    /** Somebody who calls tools, over the Service. */
    public Agent agent() {
        return Agent.connect(endpoint, token);
    }

    public KubernetesClient kubernetes() {
        Config config = Config.fromKubeconfig(kubeconfig.toFile());
        if (ownNode().isPresent()) {
            // Its keys are elliptic; fabric8 takes a key in PKCS#8 for RSA unless it is told.
            config.setClientKeyAlgo("EC");
        }
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** The node, if it is the project's own: elsewhere nobody enters nodes, and nobody is attacked. */
    public Optional<Node> ownNode() {
        return "external".equals(System.getenv("CLUSTER")) ? Optional.empty() : Optional.of(new Node(root));
    }

    private static Map<String, String> read(Path file) {
        var settings = new HashMap<String, String>();
        try {
            for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
                String[] parts = line.replaceFirst("^export ", "").split("=", 2);
                if (parts.length == 2) {
                    settings.put(parts[0], parts[1].replaceAll("^[\"']|[\"']$", ""));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        System.getenv().forEach((name, value) -> {
            if (name.startsWith("SANDGLASS_") && !value.isEmpty()) {
                settings.put(name, value);
            }
        });
        return settings;
    }

    private static String required(Map<String, String> settings, String name, Path file) {
        return Optional.ofNullable(settings.get(name))
                .orElseThrow(() ->
                        new IllegalStateException(name + " is in neither " + file + " nor the environment: make up"));
    }
}
