package dev.sandglass.gateway.egress;

import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.util.retry.Retry;

/**
 * One stream from each replica of the egress proxy, opened again with growing pauses whenever it ends. No call waits for
 * it, and without it calls only lack the names of refused hosts.
 */
public final class DenialStreams implements AutoCloseable {

    /** Most replicas that are listened to. */
    static final int MAX_REPLICAS = 64;

    private static final Logger LOG = LoggerFactory.getLogger(DenialStreams.class);
    private static final Duration SILENCE = Duration.ofSeconds(30);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final int CONNECT_MS = 5000;

    private final DeniedHosts hosts;
    private final HttpClient http;
    private final int port;
    private final Map<String, Disposable> streams = new HashMap<>();
    private int open;

    /**
     * Listens to nobody yet.
     *
     * @param port of the stream on every replica
     * @param token which the replicas demand
     */
    public DenialStreams(DeniedHosts hosts, LoopResources loops, int port, String token) {
        this.hosts = hosts;
        this.port = port;
        this.http = HttpClient.create(ConnectionProvider.newConnection())
                .runOn(loops)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MS)
                .headers(headers -> headers.set("Authorization", "Bearer " + token));
    }

    /**
     * Listens to exactly those replicas from now on.
     *
     * @param addresses of their pods, not names
     */
    public synchronized void follow(Set<String> addresses) {
        List<String> gone = streams.keySet().stream()
                .filter(address -> !addresses.contains(address))
                .toList();
        for (String address : gone) {
            Disposable stream = streams.remove(address);
            if (stream != null) {
                stream.dispose();
            }
        }
        for (String address : addresses) {
            if (streams.size() < MAX_REPLICAS) {
                streams.computeIfAbsent(address, this::stream);
            }
        }
    }

    private Disposable stream(String address) {
        return once(address)
                // An end without an error is none that we asked for.
                .concatWith(Flux.error(() -> new IOException("the stream ended")))
                .retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_PAUSE)
                        .maxBackoff(LONGEST_PAUSE)
                        .transientErrors(true)
                        .doBeforeRetry(signal -> LOG.atDebug()
                                .addKeyValue("replica", address)
                                .addKeyValue("cause", String.valueOf(signal.failure()))
                                .log("The stream of denials ended, opening it again")))
                .subscribe();
    }

    private Flux<byte[]> once(String address) {
        return Flux.defer(() -> {
            var lines = new DenialLines(hosts);
            var counted = new Counted();
            return http.remoteAddress(() -> new InetSocketAddress(address, port))
                    .get()
                    .uri("/denials")
                    .response((response, content) -> {
                        if (response.status().code() != 200) {
                            return Flux.error(new IOException("the answer is " + response.status()));
                        }
                        counted.enter();
                        return content.asByteArray();
                    })
                    .timeout(SILENCE)
                    .doOnNext(lines::add)
                    .doFinally(end -> counted.leave());
        });
    }

    private synchronized void change(int by) {
        open += by;
        hosts.setHearing(open > 0);
    }

    /** How many streams are open. */
    public synchronized int open() {
        return open;
    }

    @Override
    public void close() {
        follow(Set.of());
    }

    /** One stream, counted while it is open. */
    private final class Counted {
        private boolean in;

        private synchronized void enter() {
            in = true;
            change(1);
        }

        private synchronized void leave() {
            if (in) {
                in = false;
                change(-1);
            }
        }
    }
}
