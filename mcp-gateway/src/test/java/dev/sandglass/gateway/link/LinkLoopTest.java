package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.ConnectionTest.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestLinks;
import dev.sandglass.gateway.zmtp.CurveServer;
import io.netty.channel.ChannelException;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real sockets and keys, a far side that does what it is told to. */
class LinkLoopTest {

    private static final LinkSecret SECRET =
            new LinkSecret("a link secret of at least 32 bytes".getBytes(StandardCharsets.US_ASCII));
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final LinkSettings SETTINGS = LinkSettings.defaults("test");
    private static final LinkTarget NOWHERE = new LinkTarget("uid", 1, "127.0.0.1", 1);

    private final LinkClient client = TestLinks.start(SETTINGS, SECRET);

    @AfterEach
    void stop() {
        client.close();
    }

    @Test
    void asksAndIsAnswered() throws Exception {
        try (StubSupervisor stub = new StubSupervisor(SECRET, 1)) {
            Link link = client.link(stub.target());
            assertThat(link.isOpen()).isFalse();
            assertThat(ask(link).json().path("verb").asString()).isEqualTo("metrics");
            assertThat(link.isOpen()).isTrue();
        }
    }

    @Test
    void aLinkThatIsReleasedClosesAtOnceUnlessAnythingIsUnderWay() throws Exception {
        try (StubSupervisor stub = new StubSupervisor(SECRET, 1)) {
            Link link = client.link(stub.target());
            ask(link);
            try (Link.Subscription _ = link.events(_ -> {})) {
                link.release();
                ask(link);
                assertThat(client.stats().opened()).as("it stayed open").isEqualTo(1);
            }
            link.release();
            await().until(() -> !link.isOpen());
            assertThat(client.stats().open()).isZero();
            ask(link);
            assertThat(client.stats().opened()).isEqualTo(2);
        }
    }

    @Test
    void anotherSecretGivesNoConnection() throws Exception {
        LinkSecret other = new LinkSecret("another link secret of 32 bytes...".getBytes(StandardCharsets.US_ASCII));
        try (StubSupervisor stub = new StubSupervisor(other, 1)) {
            CompletableFuture<Answer> answer =
                    client.link(stub.target()).ask(new Verb.Metrics(), Duration.ofSeconds(1));
            await().until(answer::isDone);
            assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
        }
    }

    @Tag("slow")
    @Test
    void podsOfBeforeTheSecretWasReplacedAreReachedAndComeBack() throws Exception {
        LinkSecret fresh = new LinkSecret("the secret of today, of 32 bytes...".getBytes(StandardCharsets.US_ASCII));
        LinkSecret older = new LinkSecret("one that was given up before that..".getBytes(StandardCharsets.US_ASCII));
        try (StubSupervisor before = new StubSupervisor(SECRET, 1);
                StubSupervisor after = new StubSupervisor(fresh, 1);
                StubSupervisor longBefore = new StubSupervisor(older, 1);
                LinkClient replaced = TestLinks.start(SETTINGS, new LinkSecrets(fresh, Optional.of(SECRET)))) {
            for (StubSupervisor stub : List.of(before, after)) {
                assertThat(ask(replaced.link(stub.target())).json().path("verb").asString())
                        .isEqualTo("metrics");
            }
            CompletableFuture<Answer> answer =
                    replaced.link(longBefore.target()).ask(new Verb.Metrics(), Duration.ofSeconds(1));
            await().until(answer::isDone);
            assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
        }
    }

    @Test
    void theSecretOfBeforeIsReadIfItIsThere(@TempDir Path folder) throws IOException {
        Path now = Files.write(folder.resolve("now"), new byte[32]);
        Path before = folder.resolve("before");
        assertThat(LinkSecrets.read(now, null)).isEqualTo(LinkSecrets.of(new LinkSecret(new byte[32])));
        assertThat(LinkSecrets.read(now, before).previous()).isEmpty();
        Files.write(before, new byte[33]);
        assertThat(LinkSecrets.read(now, before).previous()).contains(new LinkSecret(new byte[33]));
        Files.write(before, new byte[31]);
        assertThatThrownBy(() -> LinkSecrets.read(now, before)).hasMessageContaining("31 bytes");
    }

    @Test
    void rubbishIsCountedAndHarmsNothing() throws Exception {
        Random random = new Random(11);
        try (StubSupervisor stub = new StubSupervisor(SECRET, 1)) {
            Link link = client.link(stub.target());
            ask(link);
            for (int i = 0; i < 200; i++) {
                byte[] noise = new byte[random.nextInt(100)];
                random.nextBytes(noise);
                stub.say(List.of(SupervisorFrames.bytes("?"), noise));
            }
            stub.say(java.util.Collections.nCopies(40, new byte[10]));
            ask(link);
            assertThat(client.stats().malformed()).isEqualTo(201);
            assertThat(link.isOpen()).isTrue();
        }
    }

    @Tag("slow")
    @Test
    void manyLinksAtOnce() throws Exception {
        try (StubSupervisor stub = new StubSupervisor(SECRET, 50)) {
            List<CompletableFuture<Answer>> answers = stub.targets().stream()
                    .map(target -> client.link(target).ask(new Verb.Metrics(), LONG))
                    .toList();
            for (CompletableFuture<Answer> answer : answers) {
                assertThat(answer.get(20, TimeUnit.SECONDS).json().path("verb").asString())
                        .isEqualTo("metrics");
            }
            assertThat(client.stats().open()).isEqualTo(50);
        }
    }

    @Test
    void moreLinksThanAllowedAreRefused() throws Exception {
        try (StubSupervisor stub = new StubSupervisor(SECRET, 2);
                LinkClient small = TestLinks.start(new LinkSettings("test", 1, LONG), SECRET)) {
            ask(small.link(stub.targets().get(0)));
            CompletableFuture<Answer> answer = small.link(stub.targets().get(1)).ask(new Verb.Metrics(), LONG);
            await().until(answer::isDone);
            assertThat(failure(answer).kind()).isEqualTo(Kind.OVERLOADED);
        }
    }

    @Test
    void idleLinksAreClosedAndOpenedAgain() throws Exception {
        try (StubSupervisor stub = new StubSupervisor(SECRET, 1);
                LinkClient hasty = TestLinks.start(new LinkSettings("test", 10, Duration.ofMillis(100)), SECRET)) {
            Link link = hasty.link(stub.target());
            ask(link);
            await().until(() -> hasty.stats().open() == 0);
            ask(link);
            assertThat(hasty.stats().opened()).isEqualTo(2);
        }
    }

    @Test
    void afterClosingEverythingFailsAtOnce() throws Exception {
        LinkClient closing = TestLinks.start(SETTINGS, SECRET);
        CompletableFuture<Answer> underWay = closing.link(NOWHERE).ask(new Verb.Metrics(), LONG);
        closing.close();
        assertThat(failure(underWay).kind()).isEqualTo(Kind.CLOSED);
        assertThat(failure(closing.link(NOWHERE).ask(new Verb.Metrics(), LONG)).kind())
                .isEqualTo(Kind.CLOSED);
    }

    @Test
    void whatDidNotGetThroughBeforeAnEndNeverDoes() throws Exception {
        LinkClient closing = TestLinks.start(SETTINGS, SECRET);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            LinkTarget target = new LinkTarget("uid", 1, "127.0.0.1", server.getLocalPort());
            CompletableFuture<Answer> underWay = closing.link(target).ask(new Verb.Metrics(), LONG);
            try (Socket far = server.accept()) {
                far.getInputStream().readNBytes(CurveServer.greeting().length);
                closing.close();
                // An orderly end would have the system go on sending for minutes.
                assertThatThrownBy(() -> far.getInputStream().readAllBytes()).hasMessageContaining("reset");
            }
            assertThat(underWay).isCompletedExceptionally();
        }
    }

    @Test
    void timersRunOnTheLinksThreadUnlessClosed() throws Exception {
        Link link = client.link(NOWHERE);
        CompletableFuture<String> ran = new CompletableFuture<>();
        link.after(Duration.ZERO, () -> ran.complete(Thread.currentThread().getName()));
        assertThat(ran.get(20, TimeUnit.SECONDS)).startsWith(TestLinks.THREAD);
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        // No timer comes in between there.
        link.execute(() -> {
            link.after(Duration.ofMillis(20), () -> closed.complete(false)).close();
            link.after(Duration.ofMillis(40), () -> closed.complete(true));
        });
        assertThat(closed.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Tag("slow")
    @Test
    void closingATimerLetsGoOfItsActionWhateverTheLinksThreadDoes() {
        Link link = client.link(NOWHERE);
        CountDownLatch busy = new CountDownLatch(1);
        link.execute(() -> awaitQuietly(busy));
        try {
            WeakReference<Object> output = closedTimer(link);
            await().until(() -> {
                System.gc();
                return output.get() == null;
            });
        } finally {
            busy.countDown();
        }
    }

    /** As when the process has no file descriptor left: Netty tells that on a thread that is nobody's. */
    @Test
    void aSocketThatCouldNotBeMadeIsTriedAgainOnTheLinksThread() throws Exception {
        try (StubSupervisor stub = new StubSupervisor(SECRET, 1);
                LinkLoop alone = LinkLoop.start(
                        TestLinks.LOOP,
                        ScarceChannel.class,
                        SETTINGS,
                        LinkSecrets.of(SECRET),
                        PodCalls.NONE,
                        SeatConfigurations.NONE)) {
            Link link = alone.link(stub.target());
            CompletableFuture<CompletableFuture<Answer>> asked = new CompletableFuture<>();
            CompletableFuture<String> troubleMeanwhile = new CompletableFuture<>();
            ScarceChannel.NONE_LEFT.set(true);
            link.execute(() -> {
                asked.complete(link.ask(new Verb.Metrics(), LONG));
                // What was told there has come to an end then, while this thread still has its step.
                GlobalEventExecutor.INSTANCE.submit(() -> {}).awaitUninterruptibly();
                Dialling dialling = alone.connections().to(stub.target()).dialling();
                troubleMeanwhile.complete(dialling.trouble());
            });

            assertThat(troubleMeanwhile.get(20, TimeUnit.SECONDS)).isEqualTo("not tried yet");
            assertThat(asked.join()
                            .get(20, TimeUnit.SECONDS)
                            .json()
                            .path("verb")
                            .asString())
                    .isEqualTo("metrics");
            assertThat(ScarceChannel.NONE_LEFT).isFalse();
        }
    }

    /** A channel that once cannot be made. Public, as Netty makes it. */
    public static final class ScarceChannel extends NioSocketChannel {
        private static final AtomicBoolean NONE_LEFT = new AtomicBoolean();

        /** As Netty does. */
        public ScarceChannel() {
            super(provider());
        }

        private static SelectorProvider provider() {
            if (NONE_LEFT.getAndSet(false)) {
                throw new ChannelException("Too many open files");
            }
            return SelectorProvider.provider();
        }
    }

    private static WeakReference<Object> closedTimer(Link link) {
        AtomicBoolean output = new AtomicBoolean();
        link.after(Duration.ofHours(1), () -> output.set(true)).close();
        return new WeakReference<>(output);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Answer ask(Link link) throws Exception {
        return link.ask(new Verb.Metrics(), LONG).get(20, TimeUnit.SECONDS);
    }
}
