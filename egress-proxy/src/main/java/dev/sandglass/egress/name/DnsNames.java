package dev.sandglass.egress.name;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Names by DNS, asked of the servers of this process. A name is asked for as it is: no search domains, no hosts file, so
 * that what was judged is what is looked up.
 */
public final class DnsNames implements Names, AutoCloseable {

    /** Most names of which answers are kept. With the most addresses of each some 30 MB, of a heap of 205. */
    public static final int MAX_CACHED = 4096;

    private final DnsNameResolver resolver;

    /**
     * A resolver on that event loop.
     *
     * @param servers whom to ask; null for those of the system
     * @param timeout for one server's answer
     */
    public DnsNames(EventLoop loop, @Nullable DnsServerAddressStreamProvider servers, Duration timeout) {
        DnsNameResolverBuilder builder = new DnsNameResolverBuilder(loop)
                .datagramChannelType(NioDatagramChannel.class)
                // An answer that is cut short is asked for again by TCP.
                .socketChannelType(NioSocketChannel.class)
                .searchDomains(List.of())
                .ndots(0)
                .resolvedAddressTypes(ResolvedAddressTypes.IPV4_PREFERRED)
                .hostsFileEntriesResolver((name, types) -> null)
                .resolveCache(new AnswerCache(MAX_CACHED, System::nanoTime))
                .cnameCache(NoopDnsCnameCache.INSTANCE)
                .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE)
                .consolidateCacheSize(1024)
                .maxQueriesPerResolve(8)
                .queryTimeoutMillis(timeout.toMillis());
        if (servers != null) {
            builder.nameServerProvider(servers);
        }
        resolver = builder.build();
    }

    @Override
    public CompletionStage<List<IpAddress>> lookup(HostName name) {
        CompletableFuture<List<IpAddress>> found = new CompletableFuture<>();
        // The dot at the end says that the name is whole.
        resolver.resolveAll(name + ".").addListener((Future<List<InetAddress>> answer) -> {
            if (answer.isSuccess()) {
                found.complete(answer.getNow().stream().map(IpAddress::of).toList());
            } else {
                found.completeExceptionally(answer.cause());
            }
        });
        return found;
    }

    @Override
    public void close() {
        resolver.close();
    }
}
