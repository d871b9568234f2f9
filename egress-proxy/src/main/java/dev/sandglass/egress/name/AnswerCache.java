package dev.sandglass.egress.name;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers of DNS as long as they are valid, at most five minutes, and at most so many names: the one unused longest goes
 * first. Failures are not kept, nor are answers of more addresses than are of use: the owner of a name decides how many it has.
 */
final class AnswerCache implements DnsCache {

    private static final long MAX_SECONDS = 300;
    private static final int MAX_ADDRESSES = 16;
    private static final long NANOS = 1_000_000_000L;

    /** An address and when it ends. */
    private record Answer(InetAddress address, long endNanos) implements DnsCacheEntry {
        @Override
        public @Nullable Throwable cause() {
            return null;
        }
    }

    private final int maxNames;
    private final LongSupplier nanoTime;
    private final Map<String, List<Answer>> answers = new LinkedHashMap<>(16, 0.75f, true);

    AnswerCache(int maxNames, LongSupplier nanoTime) {
        this.maxNames = maxNames;
        this.nanoTime = nanoTime;
    }

    @Override
    public synchronized List<? extends DnsCacheEntry> get(String hostname, DnsRecord @Nullable [] additionals) {
        List<Answer> known = answers.get(key(hostname));
        if (known == null) {
            return List.of();
        }
        long now = nanoTime.getAsLong();
        // All or none: part of an answer would look like the whole.
        if (known.size() > MAX_ADDRESSES || known.stream().anyMatch(answer -> answer.endNanos() - now <= 0)) {
            answers.remove(key(hostname));
            return List.of();
        }
        return List.copyOf(known);
    }

    @Override
    public synchronized DnsCacheEntry cache(
            String hostname,
            DnsRecord @Nullable [] additionals,
            InetAddress address,
            long originalTtl,
            EventLoop loop) {
        long seconds = Math.clamp(originalTtl, 0, MAX_SECONDS);
        Answer answer = new Answer(address, nanoTime.getAsLong() + seconds * NANOS);
        if (seconds > 0) {
            List<Answer> known = answers.computeIfAbsent(key(hostname), name -> new ArrayList<>());
            known.removeIf(old -> old.address().equals(address));
            // One more than is kept says that there were more.
            if (known.size() <= MAX_ADDRESSES) {
                known.add(answer);
            }
            dropEldest();
        }
        return answer;
    }

    private void dropEldest() {
        Iterator<String> eldest = answers.keySet().iterator();
        while (answers.size() > maxNames && eldest.hasNext()) {
            eldest.next();
            eldest.remove();
        }
    }

    @Override
    public DnsCacheEntry cache(String hostname, DnsRecord @Nullable [] additionals, Throwable cause, EventLoop loop) {
        return new Failure(cause);
    }

    /** Handed back as the interface demands, and forgotten. */
    private record Failure(Throwable cause) implements DnsCacheEntry {
        @Override
        public @Nullable InetAddress address() {
            return null;
        }
    }

    @Override
    public synchronized void clear() {
        answers.clear();
    }

    @Override
    public synchronized boolean clear(String hostname) {
        return answers.remove(key(hostname)) != null;
    }

    synchronized int size() {
        return answers.size();
    }

    private static String key(String hostname) {
        String lower = hostname.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }
}
