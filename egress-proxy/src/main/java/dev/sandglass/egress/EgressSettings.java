package dev.sandglass.egress;

import dev.sandglass.api.Durations;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.client.TenantNamespaces;
import dev.sandglass.egress.proxy.EgressProxy;
import dev.sandglass.egress.splitdns.SplitDoors;
import dev.sandglass.egress.tunnel.Limits;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The egress proxy's settings, read once from the environment at the start. Durations are written like
 * {@code 10s} or {@code 5m}, lists with commas.
 *
 * @param namespaces {@code EGRESS_NAMESPACES}, required: namespaces of the sandboxes
 * @param tenantsByLabel {@code EGRESS_TENANTS_BY_LABEL}, default false: namespaces with the label {@code sandglass.dev/tenant}
 *     too
 * @param secretFile {@code EGRESS_SECRET_FILE}, required: see {@link dev.sandglass.api.egress.EgressSecret}
 * @param credentialRequired {@code EGRESS_CREDENTIAL_REQUIRED}, default false: refuse sandboxes that present none
 * @param rules what holds for every sandbox, whatever its list says
 * @param limits {@code EGRESS_HEAD_TIMEOUT} 10s, {@code EGRESS_DNS_TIMEOUT} 5s, {@code EGRESS_CONNECT_TIMEOUT} 10s,
 *     {@code EGRESS_HELLO_TIMEOUT} 5s, {@code EGRESS_IDLE_TIMEOUT} 5m, {@code EGRESS_MAX_TUNNELS} 64 and
 *     {@code EGRESS_MAX_NEW_TUNNELS} 32 per sandbox, {@code EGRESS_MAX_CONNECTIONS} 20000, {@code EGRESS_MAX_BYTES} per
 *     sandbox 0, which is any number, {@code EGRESS_MAX_BACKLOG} 67108864 bytes
 * @param ports on which it listens
 * @param splitDns if {@code EGRESS_SPLIT_DNS} is true, default false: {@code EGRESS_SERVICE_ADDRESS}, required, where
 *     sandboxes find this proxy; {@code EGRESS_DNS_PORT} 5353, behind its port 53; {@code EGRESS_DIRECT_HTTP_PORT} 8080,
 *     behind 80; {@code EGRESS_DIRECT_TLS_PORT} 8443, behind 443; {@code EGRESS_MAX_QUERIES} 100 per sandbox and second
 */
record EgressSettings(
        Set<String> namespaces,
        boolean tenantsByLabel,
        Path secretFile,
        boolean credentialRequired,
        Rules rules,
        Limits limits,
        Ports ports,
        Optional<SplitDoors.Settings> splitDns) {

    /**
     * What holds for every sandbox, whatever its list says.
     *
     * @param openPermitted {@code EGRESS_OPEN_PERMITTED}, default false: whether {@code *} and very wide ranges count
     * @param denied {@code EGRESS_CLUSTER_RANGES}, default none: ranges of pods, services and nodes;
     *     {@code EGRESS_ALLOWED_RANGES}, default none: denied ranges, or parts of them, that sandboxes may reach
     * @param defaults {@code EGRESS_DEFAULT_DOMAINS}, default none: what sandboxes without a list may reach
     * @param tlsPorts {@code EGRESS_TLS_PORTS}, default 443
     */
    record Rules(boolean openPermitted, DeniedRanges denied, DefaultDomains defaults, Set<Integer> tlsPorts) {}

    /**
     * The ports of a replica.
     *
     * @param proxy {@code EGRESS_PORT}, default 3128
     * @param probes {@code EGRESS_HTTP_PORT}, default 8081: {@code /livez}, {@code /readyz}, {@code /metrics}
     * @param denials {@code EGRESS_DENIALS_PORT}, default 3129: the stream of denials for the gateway
     */
    record Ports(int proxy, int probes, int denials) {}

    /** Reads the settings of this process. */
    static EgressSettings fromEnvironment() {
        return of(System.getenv());
    }

    /**
     * Reads settings.
     *
     * @throws IllegalArgumentException naming the variable that is missing or wrong
     */
    static EgressSettings of(Map<String, String> environment) {
        Source source = new Source(environment);
        return new EgressSettings(
                Set.copyOf(source.list(source.required("EGRESS_NAMESPACES"))),
                source.flag("EGRESS_TENANTS_BY_LABEL"),
                Path.of(source.required("EGRESS_SECRET_FILE")),
                source.flag("EGRESS_CREDENTIAL_REQUIRED"),
                rules(source),
                limits(source),
                new Ports(
                        (int) source.whole("EGRESS_PORT", 3128, Target.MAX_PORT),
                        (int) source.whole("EGRESS_HTTP_PORT", 8081, Target.MAX_PORT),
                        (int) source.whole("EGRESS_DENIALS_PORT", 3129, Target.MAX_PORT)),
                source.flag("EGRESS_SPLIT_DNS") ? Optional.of(splitDns(source)) : Optional.empty());
    }

    private static Rules rules(Source source) {
        return new Rules(
                source.flag("EGRESS_OPEN_PERMITTED"),
                denied(source),
                defaults(source),
                source.optional("EGRESS_TLS_PORTS")
                        .map(text -> source.list(text).stream()
                                .map(port -> (int) source.whole("EGRESS_TLS_PORTS", port, 1, Target.MAX_PORT))
                                .collect(Collectors.toSet()))
                        .orElse(EgressProxy.Guard.TLS_PORTS));
    }

    private static SplitDoors.Settings splitDns(Source source) {
        if (source.flag("EGRESS_CREDENTIAL_REQUIRED")) {
            throw new IllegalArgumentException("EGRESS_SPLIT_DNS and EGRESS_CREDENTIAL_REQUIRED cannot both be true:"
                    + " clients that know no proxy have no way to present a credential");
        }
        return SplitDoors.Settings.usual(
                new InetSocketAddress((int) source.whole("EGRESS_DNS_PORT", 5353, Target.MAX_PORT)),
                new InetSocketAddress((int) source.whole("EGRESS_DIRECT_HTTP_PORT", 8080, Target.MAX_PORT)),
                new InetSocketAddress((int) source.whole("EGRESS_DIRECT_TLS_PORT", 8443, Target.MAX_PORT)),
                serviceAddress(source.required("EGRESS_SERVICE_ADDRESS")),
                (int) source.whole("EGRESS_MAX_QUERIES", SplitDoors.Settings.QUERIES, 100_000));
    }

    private static IpAddress serviceAddress(String address) {
        try {
            return IpAddress.parse(address);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("EGRESS_SERVICE_ADDRESS: " + e.getMessage(), e);
        }
    }

    TenantNamespaces tenants(KubernetesClient client) {
        return tenantsByLabel ? TenantNamespaces.byLabel(namespaces, client) : TenantNamespaces.named(namespaces);
    }

    private static DeniedRanges denied(Source source) {
        List<IpRange> cluster = source.ranges("EGRESS_CLUSTER_RANGES");
        List<IpRange> allowed = source.ranges("EGRESS_ALLOWED_RANGES");
        try {
            return new DeniedRanges(cluster, allowed);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("EGRESS_ALLOWED_RANGES: " + e.getMessage(), e);
        }
    }

    private static DefaultDomains defaults(Source source) {
        String domains = source.optional("EGRESS_DEFAULT_DOMAINS").orElse("");
        try {
            return DefaultDomains.parse(domains, source.flag("EGRESS_OPEN_PERMITTED"), denied(source));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "EGRESS_DEFAULT_DOMAINS (the chart's value egressProxy.defaultDomains): " + e.getMessage(), e);
        }
    }

    private static Limits limits(Source source) {
        Limits usual = Limits.DEFAULT;
        return new Limits(
                source.duration("EGRESS_HEAD_TIMEOUT", usual.head()),
                source.duration("EGRESS_DNS_TIMEOUT", usual.lookup()),
                source.duration("EGRESS_CONNECT_TIMEOUT", usual.connect()),
                source.duration("EGRESS_HELLO_TIMEOUT", usual.hello()),
                source.duration("EGRESS_IDLE_TIMEOUT", usual.idle()),
                (int) source.whole("EGRESS_MAX_TUNNELS", usual.tunnels(), 100_000),
                (int) source.whole("EGRESS_MAX_NEW_TUNNELS", usual.newTunnels(), 100_000),
                (int) source.whole("EGRESS_MAX_CONNECTIONS", usual.connections(), 1_000_000),
                source.optional("EGRESS_MAX_BYTES")
                        .map(text -> source.whole("EGRESS_MAX_BYTES", text, 0, Long.MAX_VALUE))
                        .orElse(usual.bytes()),
                source.whole("EGRESS_MAX_BACKLOG", usual.backlog(), Long.MAX_VALUE));
    }

    /** Variables by name; an empty one counts as absent, since charts like to write them. */
    private record Source(Map<String, String> environment) {

        Optional<String> optional(String name) {
            return Optional.ofNullable(environment.get(name)).map(String::strip).filter(text -> !text.isEmpty());
        }

        String required(String name) {
            return optional(name).orElseThrow(() -> new IllegalArgumentException(name + " is not set"));
        }

        List<String> list(String text) {
            return Arrays.stream(text.split(",", -1))
                    .map(String::strip)
                    .filter(part -> !part.isEmpty())
                    .toList();
        }

        /** An unknown word must not count as false: these open or close walls. */
        boolean flag(String name) {
            return switch (optional(name).orElse("false")) {
                case "true" -> true;
                case "false" -> false;
                default -> throw new IllegalArgumentException(name + " must be true or false");
            };
        }

        long whole(String name, long otherwise, long most) {
            return optional(name).map(text -> whole(name, text, 1, most)).orElse(otherwise);
        }

        long whole(String name, String text, long least, long most) {
            long value;
            try {
                value = Long.parseLong(text);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(name + " must be a whole number, not '" + text + "'", e);
            }
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " must be from " + least + " to " + most + ", not " + value);
            }
            return value;
        }

        Duration duration(String name, Duration otherwise) {
            return optional(name).map(text -> duration(name, text)).orElse(otherwise);
        }

        private static Duration duration(String name, String text) {
            Duration value;
            try {
                value = Durations.parse(text);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
            }
            if (value.isZero() || value.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException(name + " must be from 1s to 24h, not " + text);
            }
            return value;
        }

        List<IpRange> ranges(String name) {
            try {
                return list(optional(name).orElse("")).stream()
                        .map(IpRange::parse)
                        .toList();
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
            }
        }
    }
}
