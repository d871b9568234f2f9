package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Much output: whole, in bounded memory, and without harm to others. */
class FloodTest extends LiveSandbox {

    private static final int MIB = 1024 * 1024;
    private static final int WINDOW = 256 * 1024;

    // Lines of 100 characters that differ; the result is the checksum of all that was printed.
    private static final String FLOOD = """
            import hashlib, sys
            digest = hashlib.sha256()
            for start in range(0, %d, 1000):
                block = ''.join(f'{i:0>97}é\\n' for i in range(start, start + 1000))
                digest.update(block.encode())
                sys.stdout.write(block)
            digest.hexdigest()
            """;

    @Tag("slow")
    @Test
    void hundredMegabytesArriveWhole() throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        AtomicLong bytes = new AtomicLong();
        ExecutionResult result = Objects.requireNonNull(one.executions
                .run(sandbox, Replica.code(FLOOD.formatted(1_000_000), Replica.PATIENT), (soFar, text) -> {
                    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                    digest.update(utf8);
                    assertThat(bytes.addAndGet(utf8.length)).isEqualTo(soFar);
                    return OutputListener.CONSUMED;
                })
                .block(Replica.LONG));
        assertThat(result.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(bytes).hasValue(100_000_000);
        assertThat(result.result()).isEqualTo("'" + HexFormat.of().formatHex(digest.digest()) + "'");
        assertThat(result.truncated()).isTrue();
        assertThat(result.stdout()).startsWith("0000").endsWith("999999é\n").hasSizeLessThan(20_100);
    }

    @Tag("slow")
    @Test
    void aSlowListenerMakesTheCodeWaitAndNothingPileUp() throws Exception {
        Queue<CompletableFuture<Void>> unread = new ConcurrentLinkedQueue<>();
        AtomicLong heard = new AtomicLong();
        AtomicBoolean reading = new AtomicBoolean();
        CompletableFuture<ExecutionResult> run = one.executions
                .run(
                        sandbox,
                        Replica.code(
                                "for i in range(400): print('x' * 99_999)\nopen('all-printed', 'w').close()",
                                Replica.PATIENT),
                        (soFar, _) -> {
                            heard.set(soFar);
                            CompletableFuture<Void> stage = new CompletableFuture<>();
                            unread.add(stage);
                            return reading.get() ? OutputListener.CONSUMED : stage;
                        })
                .toFuture();
        await().until(() -> heard.get() > WINDOW / 2);
        // Everything else goes on, and the flood stands still at the window meanwhile.
        for (int i = 0; i < 50; i++) {
            assertThat(one.run(sandbox, Replica.command("true")).exitCode()).isZero();
        }
        assertThat(heard.get()).isLessThanOrEqualTo(WINDOW);
        assertThat(supervisor.workspace().resolve("all-printed")).doesNotExist();
        reading.set(true);
        unread.forEach(stage -> stage.complete(null));
        assertThat(run.get(60, TimeUnit.SECONDS).status()).isEqualTo(ExecutionStatus.OK);
        assertThat(heard).hasValue(40_000_000);
    }

    @Tag("slow")
    @Test
    void heapStaysBoundedWhateverIsPrinted() {
        Runtime runtime = Runtime.getRuntime();
        AtomicLong most = new AtomicLong();
        System.gc();
        long before = runtime.totalMemory() - runtime.freeMemory();
        AtomicInteger pieces = new AtomicInteger();
        one.executions
                .run(sandbox, Replica.code("for i in range(600): print('x' * 99_999)", Replica.PATIENT), (_, _) -> {
                    if (pieces.incrementAndGet() % 200 == 0) {
                        // What is really held, garbage not counted.
                        System.gc();
                        most.accumulateAndGet(runtime.totalMemory() - runtime.freeMemory(), Math::max);
                    }
                    return OutputListener.CONSUMED;
                })
                .block(Replica.LONG);
        assertThat(most.get()).isPositive();
        assertThat(most.get() - before).isLessThan(32L * MIB);
    }

    @Tag("slow")
    @Test
    void manySmallPiecesOfBothStreamsKeepTheirOrderPerStream() {
        String code = "import sys\nfor i in range(20000):\n    print(i, flush=True)\n"
                + "    if i % 3 == 0: print(i, file=sys.stderr, flush=True)";
        ExecutionResult result = one.run(
                sandbox, Replica.code(code, new ExecutionRequest.Limits(Replica.LONG, Replica.LONG, false, 1_000_000)));
        assertThat(result.truncated()).isFalse();
        assertThat(result.stdout().lines())
                .hasSize(20_000)
                .startsWith("0", "1", "2")
                .endsWith("19999");
        assertThat(result.stderr().lines()).hasSize(6_667).startsWith("0", "3").endsWith("19998");
    }

    @Test
    void cutConnectionsLoseNothingOfAFlood() throws Exception {
        try (CutProxy proxy = new CutProxy(sandbox.port())) {
            RunningSandbox through = new RunningSandbox(
                    sandbox.ref(), sandbox.uid(), sandbox.incarnation(), sandbox.address(), proxy.port());
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            AtomicInteger pieces = new AtomicInteger();
            ExecutionResult result = Objects.requireNonNull(one.executions
                    .run(through, Replica.code(FLOOD.formatted(200_000), Replica.PATIENT), (_, text) -> {
                        digest.update(text.getBytes(StandardCharsets.UTF_8));
                        if (pieces.incrementAndGet() % 100 == 0) {
                            proxy.cut();
                        }
                        return OutputListener.CONSUMED;
                    })
                    .block(Replica.LONG));
            assertThat(result.result()).isEqualTo("'" + HexFormat.of().formatHex(digest.digest()) + "'");
            assertThat(one.links.stats().broken()).isGreaterThanOrEqualTo(2);
        }
    }
}
