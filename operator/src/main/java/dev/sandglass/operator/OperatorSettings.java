package dev.sandglass.operator;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sandglass.api.Durations;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.operator.leader.Election;
import dev.sandglass.operator.lifecycle.Deadlines;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.Placement;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.ProbeSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The operator's settings, read once from the environment at the start. Durations are written like
 * {@code 30m}, {@code 8h} or {@code 1h30m}.
 *
 * @param namespaces {@code OPERATOR_NAMESPACES}, required: comma-separated namespaces to look after
 * @param tenantsByLabel {@code OPERATOR_TENANTS_BY_LABEL}, default false: look after every namespace with the label
 *     {@link SandboxLabels#TENANT} too
 * @param linkSecretFile {@code OPERATOR_LINK_SECRET_FILE}, required: see {@link dev.sandglass.api.link.LinkSecret}
 * @param gatewayNamespace {@code OPERATOR_GATEWAY_NAMESPACE}, required: namespace of the MCP gateway's pods
 * @param pods {@code OPERATOR_DEFAULT_IMAGE}, required; {@code OPERATOR_ALLOWED_IMAGES}, comma-separated patterns,
 *     default none; {@code OPERATOR_CPU_REQUEST_RATIO}, default 0.05; {@code OPERATOR_MEMORY_REQUEST_RATIO}, also of
 *     ephemeral storage, default 0.25; {@code OPERATOR_SERVICE_ACCOUNT}, default sandglass-sandbox;
 *     {@code OPERATOR_IMAGE_PULL_SECRETS}, comma-separated, for the accounts that the operator makes, default none;
 *     {@code OPERATOR_PRIORITY_CLASS_NAME}, default the cluster's; {@code OPERATOR_RUNTIME_CLASS_NAME}, forced on every
 *     sandbox, default the sandbox's own or the cluster's; {@code OPERATOR_ALLOWED_RUNTIME_CLASSES},
 *     comma-separated patterns, default none; {@code OPERATOR_HOST_USERS}, default true;
 *     {@code OPERATOR_UIDS_FROM} and {@code OPERATOR_UIDS_COUNT}, default {@link SandboxUsers#DEFAULT};
 *     {@code OPERATOR_MAX_SESSIONS}, 1 to 64, default 8;
 *     {@code OPERATOR_NODE_SELECTOR} and {@code OPERATOR_TOLERATIONS}, as JSON, default none;
 *     {@code TRUSTED_CA_FILE}, the site's certificate authorities in PEM, default none
 * @param deadlines of sandboxes that have none of their own: {@code OPERATOR_IDLE_TIMEOUT}, default 30m; {@code OPERATOR_MAX_LIFETIME}, default 8h;
 *     {@code OPERATOR_RETENTION}, default 24h
 * @param httpPort {@code OPERATOR_HTTP_PORT}, default 8081: {@code /livez}, {@code /readyz}, {@code /metrics}
 * @param egress if {@code EGRESS_SERVICE} is set, the name of the egress proxy's Service in the gateway's namespace, which needs
 *     {@code EGRESS_SECRET_FILE}; {@code EGRESS_CLUSTER_RANGES}, {@code EGRESS_ALLOWED_RANGES}, {@code EGRESS_OPEN_PERMITTED},
 *     {@code EGRESS_DEFAULT_DOMAINS} and {@code EGRESS_SPLIT_DNS} as the egress proxy has them; default none
 * @param probe what sandboxes try to reach in vain: {@code KUBERNETES_SERVICE_HOST} and {@code KUBERNETES_SERVICE_PORT}, which
 *     Kubernetes sets in every container; {@code OPERATOR_API_SERVER_PORTS}, comma-separated, what stands behind them, default
 *     443,6443; {@code OPERATOR_GATEWAY_SERVICE}, default none; {@code OPERATOR_REQUIRE_ENFORCEMENT}, default true
 * @param leaderElection if {@code OPERATOR_LEADER_ELECTION} is true, which needs {@code OPERATOR_NAMESPACE}; default none
 */
record OperatorSettings(
        Set<String> namespaces,
        boolean tenantsByLabel,
        Path linkSecretFile,
        String gatewayNamespace,
        PodSettings pods,
        Deadlines deadlines,
        int httpPort,
        Optional<EgressSettings> egress,
        ProbeSettings probe,
        Optional<Election> leaderElection) {

    /** Reads the settings of this process. */
    static OperatorSettings fromEnvironment() {
        return of(System.getenv());
    }

    /**
     * Reads settings.
     *
     * @throws IllegalArgumentException naming the variable that is missing or wrong
     */
    static OperatorSettings of(Map<String, String> environment) {
        Source source = new Source(environment);
        Deadlines deadlines = new Deadlines(
                source.duration("OPERATOR_IDLE_TIMEOUT", "30m"),
                source.duration("OPERATOR_MAX_LIFETIME", "8h"),
                source.duration("OPERATOR_RETENTION", "24h"));
        Optional<EgressSettings> egress = source.optional("EGRESS_SERVICE").map(service -> egress(service, source));
        return new OperatorSettings(
                Set.copyOf(commaSeparated(source.required("OPERATOR_NAMESPACES"))),
                source.flag("OPERATOR_TENANTS_BY_LABEL", false),
                Path.of(source.required("OPERATOR_LINK_SECRET_FILE")),
                source.required("OPERATOR_GATEWAY_NAMESPACE"),
                new PodSettings(
                        new ImagePolicy(
                                source.required("OPERATOR_DEFAULT_IMAGE"),
                                commaSeparated(source.optional("OPERATOR_ALLOWED_IMAGES")
                                        .orElse(""))),
                        deadlines.maxLifetime(),
                        account(source),
                        new RuntimeClassPolicy(
                                source.optional("OPERATOR_RUNTIME_CLASS_NAME"),
                                commaSeparated(source.optional("OPERATOR_ALLOWED_RUNTIME_CLASSES")
                                        .orElse(""))),
                        users(source),
                        new Scheduling(
                                new RequestRatios(
                                        source.number("OPERATOR_CPU_REQUEST_RATIO", "0.05"),
                                        source.number("OPERATOR_MEMORY_REQUEST_RATIO", "0.25")),
                                source.optional("OPERATOR_PRIORITY_CLASS_NAME"),
                                placement(source)),
                        egress.map(EgressSettings::walls),
                        source.optional("TRUSTED_CA_FILE").map(OperatorSettings::authorities),
                        sessions(source)),
                deadlines,
                source.number("OPERATOR_HTTP_PORT", "8081").intValueExact(),
                egress,
                probe(source),
                election(source));
    }

    private static Optional<Election> election(Source source) {
        return source.flag("OPERATOR_LEADER_ELECTION", false)
                ? Optional.of(new Election(
                        source.required("OPERATOR_NAMESPACE"),
                        source.optional("OPERATOR_LEASE").orElse(SandboxLabels.OPERATOR),
                        source.optional("OPERATOR_OWN_ACCOUNT")))
                : Optional.empty();
    }

    private static EgressSettings egress(String service, Source source) {
        List<IpRange> cluster = source.ranges("EGRESS_CLUSTER_RANGES");
        List<IpRange> allowed = source.ranges("EGRESS_ALLOWED_RANGES");
        DeniedRanges denied = Source.named("EGRESS_ALLOWED_RANGES", () -> new DeniedRanges(cluster, allowed));
        boolean openPermitted = source.flag("EGRESS_OPEN_PERMITTED", false);
        String domains = source.optional("EGRESS_DEFAULT_DOMAINS").orElse("");
        return new EgressSettings(
                service,
                Path.of(source.required("EGRESS_SECRET_FILE")),
                new Egress(
                        denied,
                        openPermitted,
                        source.flag("EGRESS_SPLIT_DNS", false),
                        Source.named(
                                "EGRESS_DEFAULT_DOMAINS (the chart's value egressProxy.defaultDomains)",
                                () -> DefaultDomains.parse(domains, openPermitted, denied))));
    }

    /** Some clusters name the API server instead; a sandbox can look up no name. */
    private static ProbeSettings probe(Source source) {
        Set<Integer> behind = Source.named(
                "OPERATOR_API_SERVER_PORTS",
                () -> commaSeparated(
                                source.optional("OPERATOR_API_SERVER_PORTS").orElse("443,6443"))
                        .stream()
                        .map(Integer::valueOf)
                        .collect(Collectors.toSet()));
        int port = source.number("KUBERNETES_SERVICE_PORT", "443").intValueExact();
        return new ProbeSettings(
                source.optional("KUBERNETES_SERVICE_HOST")
                        .filter(OperatorSettings::isAddress)
                        .map(host -> new ClosedAddress(host, port, behind)),
                source.optional("OPERATOR_GATEWAY_SERVICE"),
                source.flag("OPERATOR_REQUIRE_ENFORCEMENT", true));
    }

    private static boolean isAddress(String host) {
        try {
            IpAddress.parse(host);
            return true;
        } catch (IllegalArgumentException name) {
            return false;
        }
    }

    private static NamespaceAccount account(Source source) {
        return new NamespaceAccount(
                source.optional("OPERATOR_SERVICE_ACCOUNT").orElse("sandglass-sandbox"),
                commaSeparated(source.optional("OPERATOR_IMAGE_PULL_SECRETS").orElse("")));
    }

    private static SandboxUsers users(Source source) {
        SandboxUsers otherwise = SandboxUsers.DEFAULT;
        return new SandboxUsers(
                source.flag("OPERATOR_HOST_USERS", otherwise.hostUsers()),
                source.whole("OPERATOR_UIDS_FROM", otherwise.from()),
                source.whole("OPERATOR_UIDS_COUNT", otherwise.count()));
    }

    private static int sessions(Source source) {
        long most = source.whole("OPERATOR_MAX_SESSIONS", PodSettings.SESSIONS);
        if (most < 1 || most > PodSettings.MOST_SESSIONS) {
            throw new IllegalArgumentException(
                    "OPERATOR_MAX_SESSIONS (the chart's value sandbox.maxSessions) must be 1 to %d, not %d"
                            .formatted(PodSettings.MOST_SESSIONS, most));
        }
        return (int) most;
    }

    private static Placement placement(Source source) {
        return new Placement(
                source.json("OPERATOR_NODE_SELECTOR", "{}", new TypeReference<Map<String, String>>() {}),
                source.json("OPERATOR_TOLERATIONS", "[]", new TypeReference<List<Toleration>>() {}));
    }

    private static TrustedAuthorities authorities(String file) {
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            byte[] text = in.readNBytes(TrustedAuthorities.MAX_BYTES + 1);
            if (text.length > TrustedAuthorities.MAX_BYTES) {
                throw new IllegalArgumentException("it has more than " + TrustedAuthorities.MAX_BYTES + " bytes");
            }
            return TrustedAuthorities.with(new String(text, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new IllegalArgumentException("TRUSTED_CA_FILE: " + file + " cannot be read", e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "TRUSTED_CA_FILE: " + file + " (the chart's value trustedCA): " + e.getMessage(), e);
        }
    }

    private static List<String> commaSeparated(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }

    /** Variables by name; an empty one counts as absent, since charts like to write them. */
    private record Source(Map<String, String> environment) {

        Optional<String> optional(String name) {
            return Optional.ofNullable(environment.get(name)).map(String::strip).filter(text -> !text.isEmpty());
        }

        String required(String name) {
            return optional(name).orElseThrow(() -> new IllegalArgumentException(name + " is not set"));
        }

        BigDecimal number(String name, String otherwise) {
            String text = optional(name).orElse(otherwise);
            try {
                return new BigDecimal(text);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(name + " must be a number, not '" + text + "'", e);
            }
        }

        boolean flag(String name, boolean otherwise) {
            return switch (optional(name).orElse(Boolean.toString(otherwise))) {
                case "true" -> true;
                case "false" -> false;
                case String text ->
                    throw new IllegalArgumentException(name + " must be true or false, not '" + text + "'");
            };
        }

        long whole(String name, long otherwise) {
            BigDecimal number = number(name, Long.toString(otherwise));
            try {
                return number.longValueExact();
            } catch (ArithmeticException e) {
                throw new IllegalArgumentException(name + " must be a whole number, not '" + number + "'", e);
            }
        }

        <T> T json(String name, String otherwise, TypeReference<T> type) {
            try {
                return Serialization.unmarshal(optional(name).orElse(otherwise), type);
            } catch (KubernetesClientException | IllegalArgumentException e) {
                throw new IllegalArgumentException(name + " is not the JSON that it must be: " + e.getMessage(), e);
            }
        }

        Duration duration(String name, String otherwise) {
            String text = optional(name).orElse(otherwise);
            return named(name, () -> Durations.parse(text));
        }

        List<IpRange> ranges(String name) {
            List<String> texts = commaSeparated(optional(name).orElse(""));
            return named(name, () -> texts.stream().map(IpRange::parse).toList());
        }

        /** What is read, or an error that names the variable. */
        static <T> T named(String name, Supplier<T> reading) {
            try {
                return reading.get();
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
            }
        }
    }

    /** Where sandboxes may live. */
    TenantNamespaces tenants() {
        return new TenantNamespaces(namespaces, tenantsByLabel, gatewayNamespace);
    }

    /** Namespaces in a stable order, for logs. */
    String namespaceList() {
        return namespaces.stream().sorted().collect(Collectors.joining(","));
    }
}
