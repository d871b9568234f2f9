package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.HttpHeader;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxSelector;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SecretKeyRef;
import dev.sandglass.api.toolserver.ServerVariable;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ValueSource;
import dev.sandglass.gateway.toolserver.AgentServers.Owner;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The resource and the Secret of an MCP server that an agent registers (ADR 0026). The chart's policy policies/gateway.yaml
 * lets the gateway write nothing else. Pure.
 */
final class AgentServerWrites {

    /** Value of {@link SandboxLabels#MANAGED_BY} on both. */
    static final String GATEWAY = "sandglass-gateway";

    /** Beginning of the names of these Secrets: one of an administrator is never named so. */
    static final String SECRET_PREFIX = SecretKeyRef.PREFIX + "agent-";

    /** Type of these Secrets. */
    static final String SECRET_TYPE = "sandglass.dev/mcp-values";

    /** Characters behind a resource's name that make it unlike every other. */
    static final int SUFFIX = 12;

    private static final int MAX_STEM = SandboxToolServer.MAX_NAME - SUFFIX - 1;

    /** An administrator's come before agents'. */
    static final Comparator<SandboxToolServer> PRECEDENCE =
            Comparator.comparing(AgentServerWrites::isOne).thenComparing(Succession.ORDER);

    private AgentServerWrites() {}

    /** Whether an agent registered it. */
    static boolean isOne(SandboxToolServer resource) {
        Map<String, String> labels = resource.getMetadata().getLabels();
        return labels != null && GATEWAY.equals(labels.get(SandboxLabels.MANAGED_BY));
    }

    /** What the agent called it; empty if nothing says so. */
    static String givenName(SandboxToolServer resource) {
        Map<String, String> annotations = resource.getMetadata().getAnnotations();
        return annotations == null ? "" : annotations.getOrDefault(SandboxLabels.GIVEN_NAME, "");
    }

    /** UID of the sandbox that it serves; empty if nothing says so. */
    static String ownerUid(SandboxToolServer resource) {
        Map<String, String> labels = resource.getMetadata().getLabels();
        return labels == null ? "" : labels.getOrDefault(SandboxLabels.SANDBOX_UID, "");
    }

    /** The labels of the servers of a sandbox. */
    static Map<String, String> labels(Owner owner) {
        return Map.of(SandboxLabels.MANAGED_BY, GATEWAY, SandboxLabels.SANDBOX_UID, owner.uid());
    }

    /**
     * The resource.
     *
     * @param suffix {@link #SUFFIX} random characters: each registration makes another resource, so that its Secret never
     *     waits for the removal of an older one
     * @param number see {@link Succession}
     */
    static SandboxToolServer resource(Owner owner, Wanted wanted, String suffix, long number) {
        String name = name(wanted.registration().name(), suffix);
        var resource = new SandboxToolServer();
        resource.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(owner.namespace())
                .withLabels(labels(owner))
                .addToLabels(SandboxLabels.SANDBOX, owner.sandbox())
                .addToAnnotations(
                        SandboxLabels.GIVEN_NAME, wanted.registration().name())
                .addToAnnotations(SandboxLabels.CREATED_BY, wanted.createdBy())
                .addToAnnotations(SandboxLabels.REGISTRATION, Long.toString(number))
                .withOwnerReferences(new OwnerReferenceBuilder()
                        .withApiVersion(HasMetadata.getApiVersion(Sandbox.class))
                        .withKind(HasMetadata.getKind(Sandbox.class))
                        .withName(owner.sandbox())
                        .withUid(owner.uid())
                        .build())
                .build());
        var selector = new SandboxSelector(Map.of(SandboxLabels.SANDBOX_UID, owner.uid()), null);
        resource.setSpec(new SandboxToolServerSpec(
                stdio(wanted.registration(), name),
                http(wanted.registration(), name),
                wanted.allowedDomains(),
                null,
                null,
                null,
                null,
                null,
                selector));
        return resource;
    }

    private static String name(String given, String suffix) {
        String stem = given.toLowerCase(Locale.ROOT).replace('_', '-');
        return stem.substring(0, Math.min(stem.length(), MAX_STEM)) + "-" + suffix;
    }

    private static @Nullable StdioServer stdio(Registration registration, String name) {
        return switch (registration) {
            case Registration.Command command ->
                new StdioServer(
                        null,
                        command.command(),
                        command.args(),
                        command.env().keySet().stream()
                                .sorted()
                                .map(variable -> new ServerVariable(variable, null, from(name, ofVariable(variable))))
                                .toList(),
                        command.cwd().isEmpty() ? null : command.cwd());
            case Registration.Url _ -> null;
        };
    }

    private static @Nullable HttpServer http(Registration registration, String name) {
        return switch (registration) {
            case Registration.Command _ -> null;
            case Registration.Url url -> {
                var headers = new ArrayList<HttpHeader>();
                for (String header : new TreeMap<>(url.headers()).keySet()) {
                    headers.add(new HttpHeader(header, null, from(name, ofHeader(headers.size()))));
                }
                yield new HttpServer(url.url(), headers, url.transport().word());
            }
        };
    }

    private static ValueSource from(String resource, String key) {
        return new ValueSource(new SecretKeyRef(SECRET_PREFIX + resource, key));
    }

    private static String ofVariable(String name) {
        return "env." + name;
    }

    /** Names of headers have characters that keys must not have. */
    private static String ofHeader(int index) {
        return "header." + index;
    }

    /** The Secret that this resource names; empty if it names none. */
    static Optional<Secret> secret(SandboxToolServer made, Registration registration) {
        SortedMap<String, String> values = values(registration);
        if (values.isEmpty()) {
            return Optional.empty();
        }
        ObjectMeta owner = made.getMetadata();
        return Optional.of(new SecretBuilder()
                .withNewMetadata()
                .withName(SECRET_PREFIX + owner.getName())
                .withNamespace(owner.getNamespace())
                .addToLabels(SandboxLabels.MANAGED_BY, GATEWAY)
                .withOwnerReferences(controller(owner))
                .endMetadata()
                .withType(SECRET_TYPE)
                .withImmutable(true)
                .withData(values)
                .build());
    }

    private static OwnerReference controller(ObjectMeta owner) {
        return new OwnerReferenceBuilder()
                .withApiVersion(HasMetadata.getApiVersion(SandboxToolServer.class))
                .withKind(HasMetadata.getKind(SandboxToolServer.class))
                .withName(owner.getName())
                .withUid(owner.getUid())
                .withController(true)
                .build();
    }

    private static SortedMap<String, String> values(Registration registration) {
        var values = new TreeMap<String, String>();
        switch (registration) {
            case Registration.Command command ->
                command.env().forEach((name, value) -> values.put(ofVariable(name), base64(value)));
            case Registration.Url url -> {
                List<String> inOrder = List.copyOf(new TreeMap<>(url.headers()).values());
                for (int index = 0; index < inOrder.size(); index++) {
                    values.put(ofHeader(index), base64(inOrder.get(index)));
                }
            }
        }
        return values;
    }

    private static String base64(String value) {
        return Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8));
    }
}
