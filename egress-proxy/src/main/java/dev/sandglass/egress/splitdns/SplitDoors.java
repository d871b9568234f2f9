package dev.sandglass.egress.splitdns;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.client.Clients;
import dev.sandglass.egress.proxy.Door;
import dev.sandglass.egress.proxy.EgressProxy;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * The proxy's other ways in, for clients that know no proxy: DNS that answers allowed names with the proxy's own address,
 * and behind that address plain HTTP told by {@code Host} and TLS told by its server name. Verdicts, limits and audit are
 * those of the proxy.
 */
public final class SplitDoors implements AutoCloseable {

    private final DnsListener dns;
    private final Channel plain;
    private final Channel tls;

    /**
     * Where they are.
     *
     * @param dns for DNS, by UDP and TCP
     * @param plain for plain HTTP
     * @param tls for TLS
     * @param service at which sandboxes find the three, on their usual ports
     * @param plainTarget port of the servers of plain HTTP
     * @param tlsTarget port of the servers of TLS
     * @param queries of DNS per second and sandbox
     */
    public record Settings(
            InetSocketAddress dns,
            InetSocketAddress plain,
            InetSocketAddress tls,
            IpAddress service,
            int plainTarget,
            int tlsTarget,
            int queries) {

        /** Queries per second of a sandbox, if the installation says nothing else. */
        public static final int QUERIES = 100;

        /** Settings for the usual ports of servers. */
        public static Settings usual(
                InetSocketAddress dns, InetSocketAddress plain, InetSocketAddress tls, IpAddress service, int queries) {
            return new Settings(dns, plain, tls, service, DomainRule.HTTP, DomainRule.HTTPS, queries);
        }
    }

    /**
     * Opens them.
     *
     * @param clients those of the proxy
     */
    public SplitDoors(EgressProxy proxy, Clients clients, Settings settings, MeterRegistry meters)
            throws InterruptedException {
        plain = proxy.listen(settings.plain(), new Door.Plain(settings.plainTarget()));
        tls = proxy.listen(settings.tls(), new Door.Tls(settings.tlsTarget()));
        Rates rates = new Rates(settings.queries(), proxy.workings().nanoTime());
        clients.onChange(uid -> {
            if (!clients.knows(uid)) {
                rates.forget(uid);
            }
        });
        dns = new DnsListener(
                settings.dns(),
                new DnsResponder(
                        proxy.workings(),
                        settings.service(),
                        List.of(settings.tlsTarget(), settings.plainTarget()),
                        rates,
                        meters),
                proxy.loops());
    }

    /** Port of DNS, by UDP and TCP. */
    int dnsPort() {
        return dns.port();
    }

    /** Port of plain HTTP. */
    int plainPort() {
        return ((InetSocketAddress) plain.localAddress()).getPort();
    }

    /** Port of TLS. */
    int tlsPort() {
        return ((InetSocketAddress) tls.localAddress()).getPort();
    }

    @Override
    public void close() {
        dns.close();
        plain.close().syncUninterruptibly();
        tls.close().syncUninterruptibly();
    }
}
