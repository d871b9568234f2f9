package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.Durations;
import dev.sandglass.api.SchemaRules;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How an MCP server is started or reached, and who may call which of its tools. Components are added, never renamed or
 * removed; absent ones take the schema's default.
 *
 * @param stdio a program that speaks over its standard input and output; null if {@code http} is given
 * @param http a server that is reached over HTTP; null if {@code stdio} is given
 * @param allowedDomains what the server may reach; null for the installation's list with {@code stdio}, and for nothing
 *     but the URL's host with {@code http}
 * @param memory limit of the container, {@value #DEFAULT_MEMORY} if absent
 * @param cpus limit of the container, {@value #DEFAULT_CPUS} if absent
 * @param idleTimeout a duration, {@value #DEFAULT_IDLE_TIMEOUT} if absent
 * @param tools which tools code may call; all if absent
 * @param limits bounds of calls
 * @param sandboxSelector which sandboxes of the namespace may call it; all if absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value = ToolServerSchemaRules.ONE_KIND, message = ToolServerSchemaRules.NOT_ONE_KIND)
public record SandboxToolServerSpec(
        @JsonPropertyDescription(
                "An MCP server to start, which speaks over its standard input and output. Give either this"
                        + " or http.")
        @Nullable
        StdioServer stdio,

        @JsonPropertyDescription("An MCP server to connect to over HTTP. Give either this or stdio.") @Nullable
        HttpServer http,

        @Size(max = MAX_DOMAINS)
        @JsonPropertyDescription("Hosts that the server may reach, at most 63 entries, written as in a Sandbox: a name"
                + " (example.com), a wildcard (*.example.com), an IP address or a range (192.0.2.0/24),"
                + " each with a port or without, or * if the installation permits it. With http, the"
                + " host and port of the URL are always allowed besides. []: nothing else. Default: with"
                + " stdio the installation's list, with http nothing else. A change applies at once.")
        @Nullable
        List<String> allowedDomains,

        @Default(DEFAULT_MEMORY)
        @ValidationRule(value = SchemaRules.MEMORY_BOUNDS, message = SchemaRules.MEMORY_OUT_OF_BOUNDS)
        @JsonPropertyDescription("Memory limit of the server's pod, from 64Mi to 1Ti. Default: 256Mi. A change applies"
                + " at the next start of the pod.")
        Quantity memory,

        @Default(DEFAULT_CPUS)
        @ValidationRule(value = SchemaRules.CPUS_BOUNDS, message = SchemaRules.CPUS_OUT_OF_BOUNDS)
        @JsonPropertyDescription(
                "CPU limit of the server's pod in cores, from 50m to 256. Write a part of a core as 500m,"
                        + " or as \"0.5\" in quotes. Default: 500m. A change applies at the next start of the pod.")
        Quantity cpus,

        @Default(DEFAULT_IDLE_TIMEOUT)
        @Size(max = Durations.MAX_LENGTH)
        @ValidationRule(value = SchemaRules.UP_TO_A_MONTH, message = SchemaRules.IDLE_TIMEOUT_WRONG)
        @JsonPropertyDescription("How long the server may stay without calls before the operator ends its pod. The"
                + " next call starts it again, and what it held in memory is lost. A duration from 10s to"
                + " 720h, such as 30m. Default: 10m. A change applies at once.")
        String idleTimeout,

        @JsonPropertyDescription("Which of the server's tools code may call. Default: all. A change applies at once.")
        @Nullable
        ToolRules tools,

        @JsonPropertyDescription("Bounds of calls. A change applies at once.")
        CallLimits limits,

        @JsonPropertyDescription(
                "Which sandboxes of the namespace may call the server, by their labels. Default, and {}:"
                        + " all of them. A change applies at once.")
        @Nullable
        SandboxSelector sandboxSelector) {

    /** Memory limit if none is given. */
    public static final String DEFAULT_MEMORY = "256Mi";

    /** CPU limit if none is given. */
    public static final String DEFAULT_CPUS = "500m";

    /** Time without calls after which the pod ends, if none is given. */
    public static final String DEFAULT_IDLE_TIMEOUT = "10m";

    /** Most entries of {@code allowedDomains}: one less than a Sandbox has, for the host of the URL. */
    public static final int MAX_DOMAINS = 63;

    /** Most Secrets whose entries are used: each is a volume of the pod, and is looked for at each start. */
    public static final int MAX_SECRETS = 16;

    public SandboxToolServerSpec(
            @Nullable StdioServer stdio,
            @Nullable HttpServer http,
            @Nullable List<String> allowedDomains,
            @Nullable Quantity memory,
            @Nullable Quantity cpus,
            @Nullable String idleTimeout,
            @Nullable ToolRules tools,
            @Nullable CallLimits limits,
            @Nullable SandboxSelector sandboxSelector) {
        this.stdio = stdio;
        this.http = http;
        this.allowedDomains = allowedDomains == null ? null : List.copyOf(allowedDomains);
        this.memory = memory == null ? new Quantity(DEFAULT_MEMORY) : memory;
        this.cpus = cpus == null ? new Quantity(DEFAULT_CPUS) : cpus;
        this.idleTimeout = idleTimeout == null ? DEFAULT_IDLE_TIMEOUT : idleTimeout;
        this.tools = tools;
        this.limits = limits == null ? CallLimits.DEFAULT : limits;
        this.sandboxSelector = sandboxSelector;
    }

    /** Which tools code may call: all if the resource does not say. */
    public ToolRules toolRules() {
        return tools == null ? ToolRules.ALL : tools;
    }

    /** Which sandboxes may call it: all if the resource does not say. */
    public SandboxSelector selector() {
        return sandboxSelector == null ? SandboxSelector.ALL : sandboxSelector;
    }

    /** The entries of Secrets that the server's pod needs: keys by name of the Secret, both in order. */
    public SortedMap<String, SortedSet<String>> secretKeys() {
        SortedMap<String, SortedSet<String>> keys = new TreeMap<>();
        Stream.concat(
                        stdio == null ? Stream.empty() : stdio.environmentSecrets().values().stream(),
                        http == null ? Stream.empty() : http.headerSecrets().values().stream())
                .forEach(entry -> keys.computeIfAbsent(entry.name(), name -> new TreeSet<>())
                        .add(entry.key()));
        return keys;
    }
}
