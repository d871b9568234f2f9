package dev.sandglass.egress.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.testing.LoopbackResolver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResolverCheckTest {

    private static final List<String> IN_A_POD =
            List.of("search team.svc.cluster.local svc.cluster.local cluster.local", "nameserver 192.0.2.10", "");
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    /** A gauge does not keep alive what it measures. */
    private final List<ResolverCheck> held = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private ResolverCheck check(Names names, List<String> resolvConf) {
        ResolverCheck check = new ResolverCheck(
                name -> {
                    asked.add(name.value());
                    return names.lookup(name);
                },
                resolvConf,
                loops.next(),
                meters);
        check.start();
        held.add(check);
        return check;
    }

    private ResolverCheck check(DnsServerAddressStreamProvider servers, Duration patience) {
        return check(new DnsNames(loops.next(), servers, patience), IN_A_POD);
    }

    /** It asks for two names; for the first again when both have come to nothing. */
    private void awaitWholeRound() {
        await().atMost(Duration.ofSeconds(30)).until(() -> asked.size() > 2);
    }

    private double metric() {
        return meters.get("sandglass.egress.resolver.answers").gauge().value();
    }

    @Test
    void aResolverThatKnowsNoSuchNameAnswers() throws IOException {
        try (LoopbackResolver resolver = new LoopbackResolver(LoopbackResolver.NO_SUCH_NAME)) {
            ResolverCheck check = check(resolver.asServers(), LONG);
            await().until(() -> check.obstacle().isEmpty());
            assertThat(metric()).isEqualTo(1);
            assertThat(asked).containsExactly("sandglass-dns-check.svc.cluster.local");
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {LoopbackResolver.SILENT, LoopbackResolver.REFUSED, LoopbackResolver.FAILURE})
    void oneThatSaysNothingOfUseDoesNotUntilItDoes(int code) throws IOException {
        try (LoopbackResolver resolver = new LoopbackResolver(code)) {
            ResolverCheck check = check(resolver.asServers(), PATIENCE);
            awaitWholeRound();
            assertThat(check.obstacle()).hasValue("no resolver has answered (192.0.2.10)");
            assertThat(metric()).isZero();

            resolver.answer(LoopbackResolver.NO_SUCH_NAME);
            await().until(() -> check.obstacle().isEmpty());
            assertThat(metric()).isEqualTo(1);
        }
    }

    @Tag("slow")
    @Test
    void aPortWhereNothingListensIsNone() throws IOException {
        DnsServerAddressStreamProvider closed;
        try (LoopbackResolver resolver = new LoopbackResolver(LoopbackResolver.SILENT)) {
            closed = resolver.asServers();
        }
        ResolverCheck check = check(closed, PATIENCE);
        awaitWholeRound();
        assertThat(check.obstacle()).isPresent();
    }

    /** A replica that is not ready has no sandboxes, and those that go by address need no resolver. */
    @Test
    void whatAnsweredOnceIsNoObstacleAnyMore() {
        CompletableFuture<List<IpAddress>> first =
                CompletableFuture.failedFuture(new Names.NoSuchName(HostName.parse("sandglass-dns-check.invalid")));
        List<CompletableFuture<List<IpAddress>>> answers = new CopyOnWriteArrayList<>(List.of(first));
        ResolverCheck check = check(
                name -> answers.isEmpty()
                        ? CompletableFuture.failedFuture(new IOException("nobody says"))
                        : answers.removeFirst(),
                List.of());
        await().until(() -> check.obstacle().isEmpty());
        check.start();
        await().until(() -> metric() == 0);
        assertThat(check.obstacle()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "search example.com", "search svc.-- svc", "# search svc.cluster.local", "search"})
    void withoutTheClustersDomainAReservedNameIsAskedFor(String resolvConf) throws IOException {
        try (LoopbackResolver resolver = new LoopbackResolver(LoopbackResolver.NO_SUCH_NAME)) {
            ResolverCheck check =
                    check(new DnsNames(loops.next(), resolver.asServers(), PATIENCE), List.of(resolvConf));
            await().until(() -> check.obstacle().isEmpty());
            assertThat(asked).containsExactly("sandglass-dns-check.invalid");
        }
    }
}
