package dev.sandglass.egress.name;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsErrorCauseException;
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
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Names by DNS, asked of the servers of this process. A name is asked for as it is: no search domains, no hosts file, so
 * that what was judged is what is looked up.
 */
public final class DnsNames implements Names, AutoCloseable {

    /** Most names of which answers are kept. With the most addresses of each some 30 MB, of a heap of 205. */
    public static final int MAX_CACHED = 4096;

    /** As many as those of the C library (resolv.conf(5), {@code attempts}). */
    private static final int ATTEMPTS = 2;

    /** A server that could not say is given so long, in milliseconds, before it is asked again. */
    private static final long PAUSE_MS = 200;

    private final EventLoop loop;
    private final DnsNameResolver resolver;

    /**
     * A resolver on that event loop.
     *
     * @param servers whom to ask; null for those of the system
     * @param patience for a whole lookup; each of its two attempts waits a quarter of it for an answer by UDP, and as long
     *     for one by TCP
     */
    public DnsNames(EventLoop loop, @Nullable DnsServerAddressStreamProvider servers, Duration patience) {
        this.loop = loop;
        DnsNameResolverBuilder builder = new DnsNameResolverBuilder(loop)
                .datagramChannelType(NioDatagramChannel.class)
                // An answer that is cut short, or lost, is asked for again by TCP.
                .socketChannelType(NioSocketChannel.class, true)
                .searchDomains(List.of())
                .ndots(0)
                .resolvedAddressTypes(ResolvedAddressTypes.IPV4_PREFERRED)
                .hostsFileEntriesResolver((name, types) -> null)
                .resolveCache(new AnswerCache(MAX_CACHED, System::nanoTime))
                .cnameCache(NoopDnsCnameCache.INSTANCE)
                .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE)
                .consolidateCacheSize(1024)
                .maxQueriesPerResolve(8)
                .queryTimeoutMillis(Math.max(1, patience.toMillis() / (2 * ATTEMPTS)));
        if (servers != null) {
            builder.nameServerProvider(servers);
        }
        resolver = builder.build();
    }

    @Override
    public CompletionStage<List<IpAddress>> lookup(HostName name) {
        CompletableFuture<List<IpAddress>> found = new CompletableFuture<>();
        attempt(name, ATTEMPTS, found);
        return found;
    }

    private void attempt(HostName name, int left, CompletableFuture<List<IpAddress>> found) {
        // The dot at the end says that the name is whole.
        resolver.resolveAll(name + ".").addListener((Future<List<InetAddress>> answer) -> {
            if (answer.isSuccess()) {
                found.complete(answer.getNow().stream().map(IpAddress::of).toList());
            } else if (isUnknown(answer.cause()) || (left == 1 && hasNoAddress(answer.cause()))) {
                found.completeExceptionally(new NoSuchName(name, isUnknown(answer.cause())));
            } else if (left > 1) {
                var _ = loop.schedule(() -> attempt(name, left - 1, found), PAUSE_MS, TimeUnit.MILLISECONDS);
            } else {
                found.completeExceptionally(answer.cause());
            }
        });
    }

    private static boolean isUnknown(Throwable failure) {
        return failure.getCause() instanceof DnsErrorCauseException said
                && DnsResponseCode.NXDOMAIN.equals(said.getCode());
    }

    /**
     * Whether there is the name and no address of it. Said of the family that was answered last: that a server could not say
     * of the other is not told, so this is no reason not to ask again.
     */
    private static boolean hasNoAddress(Throwable failure) {
        return failure.getCause() == null;
    }

    @Override
    public void close() {
        resolver.close();
    }
}
