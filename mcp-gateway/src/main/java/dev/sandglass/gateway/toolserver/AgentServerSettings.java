package dev.sandglass.gateway.toolserver;

import dev.sandglass.api.egress.DomainRule;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which MCP servers agents may register in pods of their own.
 *
 * @param permitted the chart's value {@code mcp.agentServers} ({@code GATEWAY_AGENT_SERVERS_PERMITTED})
 * @param packageRegistries hosts that servers started by an installer may reach besides
 *     ({@code GATEWAY_AGENT_SERVERS_PACKAGE_REGISTRIES}, separated by commas)
 */
public record AgentServerSettings(
        @DefaultValue("http") Permitted permitted,
        @DefaultValue List<String> packageRegistries) {

    /** For installations in which agents register none. */
    public static final AgentServerSettings NONE = new AgentServerSettings(Permitted.NONE, List.of());

    /** Most registries. */
    public static final int MAX_REGISTRIES = 16;

    /** Programs that download what they start. */
    private static final Set<String> INSTALLERS = Set.of("npx", "uvx", "pipx");

    /** What agents may register. */
    public enum Permitted {
        /** Nothing. */
        NONE,
        /** Servers that are reached over HTTP. */
        HTTP,
        /** These, and programs. */
        ALL;

        /** As the chart has it. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks and copies the list. */
    public AgentServerSettings {
        if (packageRegistries.size() > MAX_REGISTRIES) {
            throw wrong("at most %d hosts".formatted(MAX_REGISTRIES));
        }
        for (String host : packageRegistries) {
            try {
                DomainRule.parse(host);
            } catch (IllegalArgumentException e) {
                throw wrong(String.valueOf(e.getMessage()));
            }
        }
        packageRegistries = List.copyOf(packageRegistries);
    }

    private static IllegalArgumentException wrong(String why) {
        return new IllegalArgumentException("gateway.agent-servers.package-registries"
                + " (GATEWAY_AGENT_SERVERS_PACKAGE_REGISTRIES, the chart's value mcp.packageRegistries): " + why);
    }

    /** Whether agents may register it. */
    public boolean permits(Registration registration) {
        return switch (permitted) {
            case NONE -> false;
            case HTTP -> registration instanceof Registration.Url;
            case ALL -> true;
        };
    }

    /**
     * What a server may reach.
     *
     * @param given what its registration says; null if it says nothing
     * @param usual the installation's list for sandboxes without one
     * @return null for what holds without a list
     */
    public @Nullable List<String> domains(Registration registration, @Nullable List<String> given, List<String> usual) {
        if (packageRegistries.isEmpty() || !isInstalled(registration)) {
            return given;
        }
        Set<String> all = new LinkedHashSet<>(given == null ? usual : given);
        all.addAll(packageRegistries);
        return List.copyOf(all);
    }

    private static boolean isInstalled(Registration registration) {
        return registration instanceof Registration.Command command
                && INSTALLERS.contains(
                        command.command().substring(command.command().lastIndexOf('/') + 1));
    }
}
