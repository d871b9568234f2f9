package dev.sandglass.gateway.caller;

import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.IpRange;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.netty.http.server.HttpServer;

/**
 * Proxies before the gateway whose word is taken for where a request comes from: they have added the address of whoever is
 * connected to them at the end of {@code X-Forwarded-For}. What stands before that is what they were told. Anybody else may
 * send the header too, with any address in it.
 *
 * @param ranges where they are
 */
public record TrustedProxies(List<IpRange> ranges) {

    private static final String FORWARDED_FOR = "X-Forwarded-For";

    /**
     * Reads ranges such as {@code 10.0.3.0/24}.
     *
     * @throws IllegalArgumentException naming the setting and what is wrong with it
     */
    public static TrustedProxies parse(List<String> ranges) {
        try {
            return new TrustedProxies(ranges.stream().map(IpRange::parse).toList());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "gateway.trusted-proxies (GATEWAY_TRUSTED_PROXIES, the chart's value gateway.trustedProxies): "
                            + e.getMessage(),
                    e);
        }
    }

    /**
     * Who a request comes from: the last one that a trusted proxy names and that is none itself.
     *
     * @param peer who is connected
     * @param forwardedFor the lines of {@code X-Forwarded-For}, in their order
     * @return the peer where nothing better is known; a port of 0 where only an address is
     */
    public InetSocketAddress client(InetSocketAddress peer, List<String> forwardedFor) {
        InetSocketAddress client = peer;
        for (String hop : backwards(forwardedFor)) {
            @Nullable InetAddress address = isTrusted(client.getAddress()) ? address(hop.strip()) : null;
            if (address == null) {
                break;
            }
            client = new InetSocketAddress(address, 0);
        }
        return client;
    }

    /** The same server, whose requests come from the {@link #client} of each. */
    public HttpServer heardBy(HttpServer server) {
        return server.forwarded((connection, request) -> {
            @Nullable InetSocketAddress peer = connection.getRemoteAddress();
            return peer == null
                    ? connection
                    : connection.withRemoteAddress(
                            client(peer, request.headers().getAll(FORWARDED_FOR)));
        });
    }

    private boolean isTrusted(@Nullable InetAddress address) {
        if (address == null) {
            return false;
        }
        IpAddress number = IpAddress.of(address);
        return ranges.stream().anyMatch(range -> range.contains(number));
    }

    private static List<String> backwards(List<String> forwardedFor) {
        var hops = new ArrayList<String>();
        forwardedFor.forEach(line -> hops.addAll(Arrays.asList(line.split(",", -1))));
        Collections.reverse(hops);
        return hops;
    }

    /** An address as proxies write it: alone, or with a port as some do; null if it is none. */
    private static @Nullable InetAddress address(String hop) {
        int end = hop.startsWith("[") ? hop.indexOf(']') : -1;
        boolean isFourWithPort = hop.indexOf('.') > 0 && hop.indexOf(':') > 0 && !hop.contains("::");
        String bare = end > 0 ? hop.substring(1, end) : isFourWithPort ? hop.substring(0, hop.indexOf(':')) : hop;
        try {
            return IpAddress.parse(bare).toInetAddress();
        } catch (IllegalArgumentException _) {
            return null;
        }
    }
}
