package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.egress.proxy.EgressProxy;
import dev.sandglass.egress.testing.LoopbackResolver;
import dev.sandglass.egress.tunnel.Limits;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The proxy before a real API server, whose watches take their time: what changes there is in force here soon, and never is
 * somebody taken for another. Sandboxes ask from addresses of the loopback network, without a credential, which is their
 * best chance to be taken for another.
 */
@SuppressWarnings("NullAway.Init")
class EgressIT {

    /** By the watch, on a machine that does much else: nothing else would ever bring it. */
    private static final Duration IN_FORCE = Duration.ofSeconds(10);

    private static final int REPLACEMENTS = 1000;
    private static final int LANES = 4;
    private static final int RESTARTS = 8;
    private static final int ATTEMPTS = 10_000;
    /** Each is refused only after the patience for a new sandbox, so many ask side by side. */
    private static final int STRANGERS = 100;

    private static final EgressSecret SECRET = new EgressSecret(new byte[32]);
    private static final String GIVEN = "200";
    private static final String NO_CONNECTION = "none";

    private static ScratchTenant tenant;
    private static LoopbackResolver resolver;
    private static ServerSocket one;
    private static ServerSocket two;

    @BeforeAll
    static void open() throws IOException {
        tenant = new ScratchTenant();
        resolver = new LoopbackResolver(LoopbackResolver.NO_SUCH_NAME);
        one = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        two = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        List.of(one, two).forEach(server -> Thread.startVirtualThread(() -> hold(server)));
    }

    @AfterAll
    static void close() throws IOException {
        one.close();
        two.close();
        resolver.close();
        tenant.close();
    }

    /** A server that accepts, says nothing, and goes when the other side does. */
    private static void hold(ServerSocket server) {
        while (!server.isClosed()) {
            try {
                Socket accepted = server.accept();
                Thread.startVirtualThread(() -> {
                    try (accepted) {
                        accepted.getInputStream().readAllBytes();
                    } catch (IOException gone) {
                        // As it is meant.
                    }
                });
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static String target(ServerSocket server) {
        return "127.0.0.1:" + server.getLocalPort();
    }

    private static EgressMain.RunningProxy proxy(int port) throws IOException, InterruptedException {
        Limits usual = Limits.DEFAULT;
        Limits many = new Limits(
                usual.head(),
                usual.lookup(),
                usual.connect(),
                usual.hello(),
                usual.idle(),
                10_000,
                100_000,
                20_000,
                0,
                Limits.BACKLOG);
        EgressSettings settings = new EgressSettings(
                Set.of(tenant.namespace),
                false,
                Path.of("unused"),
                false,
                new EgressSettings.Rules(
                        false,
                        new DeniedRanges(List.of(), List.of(IpRange.parse("127.0.0.1"))),
                        DefaultDomains.NONE,
                        EgressProxy.Guard.TLS_PORTS),
                many,
                new EgressSettings.Ports(port, 0, 0),
                Optional.empty());
        return new EgressMain.RunningProxy(
                settings,
                tenant.client,
                SECRET,
                new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
                resolver.asServers());
    }

    private static Socket connect(String source, int port) throws IOException {
        Socket socket = new Socket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral(source), 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String ask(Socket socket, String target) throws IOException {
        String request = "CONNECT " + target + " HTTP/1.1\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        byte[] begin = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
        return new String(begin, StandardCharsets.US_ASCII).replace("HTTP/1.1 ", "");
    }

    /** The status; {@code none} if nobody listens. */
    private static String status(String source, int port, String target) {
        try (Socket socket = connect(source, port)) {
            return ask(socket, target);
        } catch (IOException refused) {
            return NO_CONNECTION;
        }
    }

    @Test
    void anotherListIsInForceSoonAndClosesTunnels() throws Exception {
        String address = "127.0.0.31";
        tenant.pod(1, "changes", tenant.sandbox("changes", target(one)), address);
        List<Duration> took = new ArrayList<>();
        try (EgressMain.RunningProxy proxy = proxy(0)) {
            int port = proxy.port();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> status(address, port, target(one)).equals(GIVEN));
            ServerSocket open = one;
            ServerSocket closed = two;
            for (int i = 0; i < 20; i++) {
                try (Socket tunnel = connect(address, port)) {
                    assertThat(ask(tunnel, target(open))).isEqualTo(GIVEN);
                    long begin = System.nanoTime();
                    tenant.allow("changes", target(closed));
                    awaitEnd(tunnel);
                    String given = target(closed);
                    String taken = target(open);
                    await().atMost(Duration.ofSeconds(60))
                            .pollInterval(Duration.ofMillis(1))
                            .until(() -> status(address, port, given).equals(GIVEN));
                    took.add(Duration.ofNanos(System.nanoTime() - begin));
                    assertThat(status(address, port, taken)).isEqualTo("403");
                }
                ServerSocket other = open;
                open = closed;
                closed = other;
            }
        }
        System.out.printf(
                "another list: in force after at most %d ms%n", longest(took).toMillis());
        assertThat(longest(took)).isLessThan(IN_FORCE);
    }

    private static Duration longest(List<Duration> all) {
        return all.stream().max(Duration::compareTo).orElseThrow();
    }

    private static void awaitEnd(Socket tunnel) throws IOException {
        try {
            tunnel.getInputStream().readAllBytes();
        } catch (SocketException reset) {
            // Ended without ceremony.
        }
    }

    /** An address goes from one sandbox to another; the new one never reaches what only the old one may. */
    @Test
    void anAddressThatIsUsedAgain() throws Exception {
        Map<String, AtomicInteger> answers = new ConcurrentHashMap<>();
        try (EgressMain.RunningProxy proxy = proxy(0);
                ExecutorService lanes = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> running = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                int number = lane;
                running.add(lanes.submit(() -> replace(number, proxy.port(), answers)));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
        System.out.println("address used again: " + answers);
        assertThat(answers.get("replacements")).hasValue(REPLACEMENTS);
        assertThat(answers.get("old one's target " + GIVEN)).isNull();
        assertThat(answers.get("own target " + GIVEN)).hasValue(REPLACEMENTS);
    }

    private static void replace(int lane, int port, Map<String, AtomicInteger> answers) {
        String address = "127.0.0." + (40 + lane);
        String[] names = {"a-" + lane, "b-" + lane};
        ServerSocket[] theirs = {one, two};
        String[] uids = {tenant.sandbox(names[0], target(one)), tenant.sandbox(names[1], target(two))};
        String before = "";
        for (int i = 0; i <= REPLACEMENTS / LANES; i++) {
            int now = i % 2;
            if (!before.isEmpty() && i % 4 < 2) {
                tenant.end(before);
            } else if (!before.isEmpty()) {
                tenant.delete(before);
            }
            String pod = tenant.pod(i + 1, names[now], uids[now], address);
            if (!before.isEmpty()) {
                count(answers, "replacements");
                // At once, then until the proxy knows whose the address is.
                String own = "";
                while (!own.equals(GIVEN)) {
                    count(answers, "old one's target " + status(address, port, target(theirs[1 - now])));
                    own = status(address, port, target(theirs[now]));
                    count(answers, "own target " + own);
                }
            }
            before = pod;
        }
    }

    private static void count(Map<String, AtomicInteger> answers, String what) {
        answers.computeIfAbsent(what, same -> new AtomicInteger()).incrementAndGet();
    }

    /** A replica that begins again and again under load: closed until it knows, and never open to the wrong one. */
    @Test
    void aReplicaThatIsRestarted() throws Exception {
        String known = "127.0.0.61";
        String stranger = "127.0.0.62";
        tenant.pod(1, "restarts", tenant.sandbox("restarts", target(one)), known);
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Map<String, AtomicInteger> answers = new ConcurrentHashMap<>();
        AtomicInteger attempts = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService load = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < LANES; i++) {
                load.execute(() -> {
                    while (!over.get()) {
                        attempts.addAndGet(answered(answers, "denied", status(known, port, target(two))));
                        // The control: it is no attempt at what is not allowed.
                        answered(answers, "allowed", status(known, port, target(one)));
                    }
                });
            }
            for (int i = 0; i < STRANGERS; i++) {
                load.execute(() -> {
                    while (!over.get()) {
                        answered(answers, "stranger", status(stranger, port, target(one)));
                    }
                });
            }
            try {
                restart(port, attempts, () -> answers.containsKey("stranger 407"));
            } finally {
                // Else the lanes go on, and the executor waits for them for ever.
                over.set(true);
            }
        }
        System.out.printf("restarts: %d, attempts: %s%n", RESTARTS, answers);
        assertThat(answers.keySet())
                .contains("denied 403", "stranger 407", "allowed " + GIVEN, "allowed 503")
                .doesNotContain("denied " + GIVEN, "stranger " + GIVEN);
    }

    private static void restart(int port, AtomicInteger attempts, BooleanSupplier refused) throws Exception {
        for (int restart = 1; restart <= RESTARTS; restart++) {
            int enough = attempts.get() + ATTEMPTS / RESTARTS;
            // Only the last one lives long enough to refuse strangers; a wrong one would let them in at once.
            boolean last = restart == RESTARTS;
            try (EgressMain.RunningProxy proxy = proxy(port)) {
                await().atMost(Duration.ofMinutes(3))
                        .until(() ->
                                attempts.get() >= enough && (!last || refused.getAsBoolean()) && proxy.port() == port);
            }
        }
    }

    /** Counts an answer; 1 if there was one. */
    private static int answered(Map<String, AtomicInteger> answers, String what, String got) {
        if (got.equals(NO_CONNECTION) || got.isEmpty()) {
            return 0;
        }
        count(answers, what + " " + got);
        return 1;
    }
}
