package dev.sandglass.egress.name;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.IpAddress;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.resolver.dns.DnsCacheEntry;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long answers are kept, and how many. */
class AnswerCacheTest {

    private static final long SECOND = 1_000_000_000L;

    private final EventLoop loop = new DefaultEventLoop();
    private final long[] now = {5};
    private final AnswerCache cache = new AnswerCache(3, () -> now[0]);

    @AfterEach
    void close() {
        var _ = loop.shutdownGracefully();
    }

    private void put(String name, String address, long ttl) {
        cache.cache(name, null, IpAddress.parse(address).toInetAddress(), ttl, loop);
    }

    private List<String> known(String name) {
        return cache.get(name, null).stream()
                .map(DnsCacheEntry::address)
                .map(address -> address == null ? "" : address.getHostAddress())
                .toList();
    }

    @Test
    void asLongAsTheAnswerSays() {
        put("Example.com.", "1.0.0.1", 10);
        put("example.com", "1.0.0.2", 20);
        now[0] += 10 * SECOND - 1;
        assertThat(known("EXAMPLE.com")).containsExactly("1.0.0.1", "1.0.0.2");
        now[0] += 1;
        assertThat(known("example.com")).isEmpty();
        assertThat(cache.size()).isZero();
    }

    @Test
    void fiveMinutesAtMostAndNotAtAllForZero() {
        put("long.example", "1.0.0.1", Integer.MAX_VALUE);
        put("zero.example", "1.0.0.1", 0);
        assertThat(known("zero.example")).isEmpty();
        now[0] += 300 * SECOND - 1;
        assertThat(known("long.example")).isNotEmpty();
        now[0] += 1;
        assertThat(known("long.example")).isEmpty();
    }

    @Test
    void theNameUnusedLongestGoesFirst() {
        put("a.example", "1.0.0.1", 60);
        put("b.example", "1.0.0.1", 60);
        put("c.example", "1.0.0.1", 60);
        assertThat(known("a.example")).isNotEmpty();
        put("d.example", "1.0.0.1", 60);
        assertThat(cache.size()).isEqualTo(3);
        assertThat(known("b.example")).isEmpty();
        assertThat(known("a.example")).isNotEmpty();
    }

    @Test
    void anAnswerOfTooManyAddressesIsNotKept() {
        for (int last = 1; last <= 16; last++) {
            put("many.example", "1.0.0." + last, 60);
        }
        assertThat(known("many.example")).hasSize(16);
        for (int last = 17; last <= 40; last++) {
            put("many.example", "1.0.0." + last, 60);
        }
        assertThat(known("many.example")).isEmpty();
        assertThat(cache.size()).isZero();
    }

    @Test
    void failuresAreNotKept() {
        cache.cache("gone.example", null, new UnknownHostException("gone.example"), loop);
        assertThat(known("gone.example")).isEmpty();
    }
}
