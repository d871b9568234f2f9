package dev.sandglass.egress.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.egress.client.ClaimWaits;
import dev.sandglass.egress.client.ClientAdmission;
import dev.sandglass.egress.client.Credentials;
import dev.sandglass.egress.denial.Denial;
import dev.sandglass.egress.denial.Failure;
import dev.sandglass.egress.denial.Unreached;
import dev.sandglass.egress.tunnel.Limits;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A proxy on the loopback network with sandboxes and names as a test says. Of the loopback network only 127.0.0.1 is
 * allowed; the rest is as denied as it is everywhere.
 */
public final class Stage implements AutoCloseable {

    public static final String SANDBOX = "127.0.0.21";
    public static final String NEIGHBOUR = "127.0.0.22";
    public static final String STRANGER = "127.0.0.23";

    /** Short, as most tests refuse those whom nobody makes known. */
    private static final Duration SHORT = Duration.ofMillis(100);

    /** How long unknown clients and requests of seats wait, and how many of the latter. */
    private record Patience(Duration newcomer, Duration claim, int mostOfOne, int most) {
        private static Patience of(Duration newcomer) {
            return new Patience(newcomer, ClaimWaits.PATIENCE, ClaimWaits.MOST_OF_ONE, ClaimWaits.MOST);
        }
    }

    private static final DeniedRanges ONE_ADDRESS = new DeniedRanges(List.of(), List.of(IpRange.parse("127.0.0.1")));

    public final FakeClients clients = new FakeClients();
    public final FakeNames names = new FakeNames();
    public final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    public final List<Denial> denials = new CopyOnWriteArrayList<>();
    public final List<Failure> failures = new CopyOnWriteArrayList<>();
    public final ClaimWaits claims;
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final List<Origin> origins = new ArrayList<>();
    private final EgressProxy proxy;

    public Stage() throws InterruptedException {
        this(Limits.DEFAULT, false, Set.of());
    }

    /** The usual limits, but for the time that a TLS client has. */
    public static Limits limits(Duration hello) {
        Limits usual = Limits.DEFAULT;
        return new Limits(
                usual.head(),
                usual.lookup(),
                usual.connect(),
                hello,
                usual.idle(),
                usual.tunnels(),
                usual.newTunnels(),
                usual.connections(),
                usual.bytes(),
                Limits.BACKLOG);
    }

    /** Every address is denied, so that whatever the rules let through ends there. */
    public static Stage thatDialsNobody() throws InterruptedException {
        List<IpRange> everything = List.of(IpRange.parse("0.0.0.0/0"), IpRange.parse("::/0"));
        return new Stage(Limits.DEFAULT, false, Set.of(), new DeniedRanges(everything, List.of()), Patience.of(SHORT));
    }

    /** Unknown clients wait so long. */
    public static Stage waiting(Duration patience) throws InterruptedException {
        return new Stage(Limits.DEFAULT, false, Set.of(), ONE_ADDRESS, Patience.of(patience));
    }

    /**
     * Requests of seats wait so long, and so many.
     *
     * @param mostOfOne requests of one seat that wait at a time
     * @param most requests of all seats that wait at a time
     */
    public static Stage withSeats(Duration claim, int mostOfOne, int most) throws InterruptedException {
        return new Stage(Limits.DEFAULT, false, Set.of(), ONE_ADDRESS, new Patience(SHORT, claim, mostOfOne, most));
    }

    /** Tunnels to names are TLS on these ports. */
    public Stage(Limits limits, boolean credentialRequired, Set<Integer> tlsPorts) throws InterruptedException {
        this(limits, credentialRequired, tlsPorts, ONE_ADDRESS, Patience.of(SHORT));
    }

    private Stage(
            Limits limits, boolean credentialRequired, Set<Integer> tlsPorts, DeniedRanges denied, Patience patience)
            throws InterruptedException {
        claims = new ClaimWaits(clients, patience.claim(), patience.mostOfOne(), patience.most());
        Credentials credentials =
                (client, user, password) -> user.equals(client.subject()) && password.equals("of-" + client.subject());
        proxy = new EgressProxy(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new EgressProxy.Guard(
                        clients,
                        new ClientAdmission(clients, credentials, claims, credentialRequired, patience.newcomer()),
                        names,
                        denied,
                        limits,
                        tlsPorts),
                loops,
                meters,
                this::told);
    }

    private void told(Unreached target) {
        switch (target) {
            case Denial denial -> denials.add(denial);
            case Failure failure -> failures.add(failure);
        }
    }

    /** Opens a server at 127.0.0.1. */
    public Origin origin(Origin.Script script) throws IOException {
        return origin("127.0.0.1", script);
    }

    public Origin origin(String address, Origin.Script script) throws IOException {
        Origin origin = new Origin(address, script);
        origins.add(origin);
        return origin;
    }

    public Peer from(String source) throws IOException {
        return Peer.connect(source, proxy.port());
    }

    /** Asks for a tunnel and hears the head of the answer. */
    public Peer tunnel(String source, String target) throws IOException {
        Peer peer = from(source);
        peer.say("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
        return peer;
    }

    /** Says something from the sandbox and hears everything until the proxy closes. */
    public String answer(String source, String request) throws IOException {
        try (Peer peer = from(source)) {
            peer.say(request);
            return peer.rest();
        }
    }

    /** Asks for a tunnel that is not given, and hears why. */
    public String refusal(String source, String target) throws IOException {
        return answer(source, "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
    }

    public EgressProxy proxy() {
        return proxy;
    }

    /** Waits until so many requests have ended so; they are counted behind their answers. */
    public void awaitCount(String outcome, String end, int times) {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            assertThat(count(outcome, end)).isEqualTo(times);
        });
    }

    public double count(String outcome, String end) {
        return meters.counter("sandglass.egress.requests", "outcome", outcome, "end", end)
                .count();
    }

    @Override
    public void close() throws IOException {
        for (Origin origin : origins) {
            origin.close();
        }
        proxy.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
