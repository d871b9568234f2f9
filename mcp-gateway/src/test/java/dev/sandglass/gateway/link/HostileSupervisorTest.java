package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestLinks;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * A supervisor that code took over makes a replica say much and reads nothing of it: each attack with the control that a
 * far side that reads is served.
 */
class HostileSupervisorTest {

    private static final LinkSecret SECRET =
            new LinkSecret("a link secret of at least 32 bytes".getBytes(StandardCharsets.US_ASCII));
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration GLANCE = Duration.ofMillis(400);
    private static final int MANY = 300_000;
    private static final int SOME = 20_000;
    private static final int BATCH = 200;
    private static final long LITTLE = 16L * 1024 * 1024;

    private final LinkClient client = TestLinks.start(SECRET);

    @AfterEach
    void stop() {
        client.close();
    }

    static final List<Attack> ATTACKS = List.of(
            new Attack("pings", (far, count) -> far.ping(BATCH)),
            new Attack("unasked content of files", repeated(i -> SupervisorFrames.content("r" + i, 1))),
            new Attack(
                    "output of executions that nobody reads", repeated(i -> SupervisorFrames.stdout("x" + i, 0, "a"))),
            new Attack(
                    "gaps in what is read, each a reason to acknowledge",
                    repeated(i -> SupervisorFrames.output(
                            "followed", i * 1_000_000L, "gap", "{\"to\":" + (i + 1) * 1_000_000L + "}", new byte[0]))));

    @Tag("slow")
    @ParameterizedTest
    @FieldSource("ATTACKS")
    void whoDoesNotReadMakesAReplicaHoldLittle(Attack attack) throws Exception {
        try (HostileSupervisor far = new HostileSupervisor(SECRET)) {
            opened(far);
            long before = memory();
            AtomicInteger said = new AtomicInteger();
            CompletableFuture<Void> flood = says(far, attack, MANY, said);
            AtomicInteger last = new AtomicInteger();
            await().atMost(LONG)
                    .pollInterval(GLANCE)
                    .until(() -> flood.isDone() || last.getAndSet(said.get()) == said.get());
            assertThat(flood).as("%s: the replica took all of it", attack.name).isNotDone();
            assertThat(memory() - before).isLessThan(LITTLE);
            readsOn(far);
            flood.get(60, TimeUnit.SECONDS);
            assertThat(client.stats().broken()).isZero();
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @FieldSource("ATTACKS")
    void whoReadsIsServed(Attack attack) throws Exception {
        try (HostileSupervisor far = new HostileSupervisor(SECRET)) {
            opened(far);
            readsOn(far);
            says(far, attack, SOME, new AtomicInteger()).get(60, TimeUnit.SECONDS);
            assertThat(client.link(far.target()).isOpen()).isTrue();
        }
    }

    /** A caller who owns such a sandbox asks for much and gives each call up. */
    @Test
    void whatIsAskedOfOneWhoDoesNotReadHoldsLittleOnceItWasGivenUp() throws Exception {
        try (HostileSupervisor far = new HostileSupervisor(SECRET)) {
            Link link = opened(far);
            long before = memory();
            Blob content = Blob.of(new byte[1024 * 1024]);
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                answers.add(link.ask(new Verb.Files(new FileOperation.Write("a", null, content)), LONG));
            }
            CompletableFuture<Void> asked = new CompletableFuture<>();
            link.execute(() -> asked.complete(null));
            asked.get(60, TimeUnit.SECONDS);
            answers.forEach(answer -> answer.cancel(false));
            // It is given up on the link's own thread.
            await().atMost(LONG).until(() -> memory() - before < LITTLE);
        }
    }

    @Test
    void aMessageThatIsLeftOutEndsTheConnection() throws Exception {
        try (HostileSupervisor far = new HostileSupervisor(SECRET)) {
            opened(far);
            far.ping(1);
            far.skip();
            far.ping(1);
            await().until(() -> client.stats().broken() == 1);
        }
    }

    /** An open link on which the execution {@code followed} is read. */
    private Link opened(HostileSupervisor far) throws Exception {
        Link link = client.link(far.target());
        CompletableFuture<Answer> answer = link.follow(
                new Verb.Execute("followed", "python", "s", null, Blob.EMPTY, Map.of(), LONG, true),
                new FakeLink.Reader(),
                LONG);
        far.accept();
        far.say(SupervisorFrames.reply(new String(far.message().get(1), StandardCharsets.US_ASCII), "{}"));
        answer.get(60, TimeUnit.SECONDS);
        return link;
    }

    private static CompletableFuture<Void> says(HostileSupervisor far, Attack attack, int times, AtomicInteger said) {
        return inBackground(() -> {
            while (said.get() < times) {
                attack.speech.say(far, said.get());
                said.addAndGet(BATCH);
            }
        });
    }

    private static void readsOn(HostileSupervisor far) {
        var _ = inBackground(() -> {
            InputStream in = far.connection().getInputStream();
            in.transferTo(java.io.OutputStream.nullOutputStream());
        });
    }

    private static CompletableFuture<Void> inBackground(Step step) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try {
                step.run();
                done.complete(null);
            } catch (IOException e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }

    private static long memory() {
        return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
                .metric()
                .usedDirectMemory();
    }

    private static Speech repeated(Saying saying) {
        return (far, from) -> {
            for (int i = from; i < from + BATCH; i++) {
                far.say(saying.frames(i));
            }
        };
    }

    private interface Step {
        void run() throws IOException;
    }

    /** Says a batch of messages, the first of which is that one. */
    private interface Speech {
        void say(HostileSupervisor far, int first) throws IOException;
    }

    private interface Saying {
        List<byte[]> frames(int index);
    }

    record Attack(String name, Speech speech) {
        @Override
        public String toString() {
            return name;
        }
    }
}
