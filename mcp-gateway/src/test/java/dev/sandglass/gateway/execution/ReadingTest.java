package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.ExecutionRequest.Code;
import dev.sandglass.gateway.execution.ExecutionRequest.Limits;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Executions that are read on, by others and by several at once. */
class ReadingTest extends LiveSandbox {

    private static final Duration MOMENT = Duration.ofMillis(200);

    @Test
    void whenPatienceEndsTheRestIsReadThroughAnotherReplica() {
        String code = "print('first', flush=True)\n" + UNTIL_FILE.formatted("go-on") + "print('second')\n'done'";
        ExecutionResult soFar;
        try (Replica impatient = new Replica()) {
            CompletableFuture<ExecutionResult> run = beginAndHear(impatient, code);
            impatient.executions.drain();
            soFar = run.join();
        }
        assertThat(soFar.status()).isEqualTo(ExecutionStatus.RUNNING);
        assertThat(soFar.stdout()).isEqualTo("first\n");
        assertThat(soFar.nextOffset()).isEqualTo(6);

        ExecutionResult nothingNew = two.read(sandbox, soFar.id(), soFar.nextOffset(), Duration.ZERO);
        assertThat(nothingNew.status()).isEqualTo(ExecutionStatus.RUNNING);
        assertThat(nothingNew.stdout()).isEmpty();

        touch("go-on");
        ExecutionResult rest = two.read(sandbox, soFar.id(), soFar.nextOffset(), Replica.LONG);
        assertThat(rest.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(rest.stdout()).isEqualTo("second\n");
        assertThat(rest.result()).isEqualTo("'done'");
        assertThat(two.read(sandbox, soFar.id(), 0, Duration.ZERO).stdout()).isEqualTo("first\nsecond\n");
    }

    @Test
    void backgroundIsAnsweredAtOnceAndNotInterruptedByACancelledCall() {
        Code code = Replica.code(UNTIL_FILE.formatted("background") + "'survived'", Replica.background());
        ExecutionResult started = one.run(sandbox, code);
        assertThat(started.status()).isEqualTo(ExecutionStatus.RUNNING);
        touch("background");
        assertThat(one.read(sandbox, started.id(), 0, Replica.LONG).result()).isEqualTo("'survived'");
    }

    @Test
    void cancelledReadingLeavesTheCodeAlone() {
        Code code = Replica.code(UNTIL_FILE.formatted("read") + "'whole'", Replica.background());
        ExecutionId id = one.run(sandbox, code).id();
        Disposable reading = two.executions
                .read(sandbox, id, 0, Replica.LONG, 1000, OutputListener.NONE)
                .subscribe();
        await().until(() -> two.links.stats().open() > 0);
        reading.dispose();
        touch("read");
        assertThat(two.read(sandbox, id, 0, Replica.LONG).result()).isEqualTo("'whole'");
    }

    @Test
    void executionsOfTwoReplicasQueueAndTellTheirPosition() {
        CompletableFuture<ExecutionResult> first = beginAndHear("order = ['first']\n" + UNTIL_FILE.formatted("queue"));
        ExecutionResult second =
                two.run(sandbox, Replica.code("order.append('second')\norder", Replica.waiting(MOMENT)));
        assertThat(second.status()).isEqualTo(ExecutionStatus.RUNNING);
        assertThat(second.queuePosition()).isEqualTo(1);
        assertThat(second.message()).contains("queue");
        touch("queue");
        assertThat(first.join().status()).isEqualTo(ExecutionStatus.OK);
        assertThat(one.read(sandbox, second.id(), 0, Replica.LONG).result()).isEqualTo("['first', 'second']");
    }

    @Test
    void whoReadsWhatWaitsIsToldItsPosition() {
        CompletableFuture<ExecutionResult> first = beginAndHear(UNTIL_FILE.formatted("ahead"));
        ExecutionId second =
                one.run(sandbox, Replica.code("1", Replica.background())).id();
        ExecutionId third =
                one.run(sandbox, Replica.code("1", Replica.background())).id();

        ExecutionResult read = two.read(sandbox, third, 0, Duration.ZERO);
        assertThat(read.status()).isEqualTo(ExecutionStatus.RUNNING);
        assertThat(read.queuePosition()).isEqualTo(2);
        assertThat(read.message()).contains("queue behind 2");
        assertThat(two.read(sandbox, second, 0, MOMENT).queuePosition()).isEqualTo(1);

        touch("ahead");
        assertThat(first.join().status()).isEqualTo(ExecutionStatus.OK);
        assertThat(two.read(sandbox, third, 0, Replica.LONG).status()).isEqualTo(ExecutionStatus.OK);
    }

    @Test
    void thePositionIsThatOfTheAnswerAndNotOfTheBegin() throws Exception {
        CompletableFuture<ExecutionResult> first = beginAndHear(UNTIL_FILE.formatted("before"));
        try (Replica impatient = new Replica()) {
            CompletableFuture<ExecutionResult> second =
                    queued(impatient, "open('behind-runs', 'w').close()\n" + UNTIL_FILE.formatted("behind"));
            CompletableFuture<ExecutionResult> third = queued(impatient, "1");
            touch("before");
            assertThat(first.join().status()).isEqualTo(ExecutionStatus.OK);
            await().atMost(Replica.LONG)
                    .until(() -> Files.exists(supervisor.workspace().resolve("behind-runs")));

            impatient.executions.drain();

            assertThat(second.get(30, TimeUnit.SECONDS).queuePosition()).isZero();
            assertThat(second.join().message()).isEqualTo("It is still running.");
            assertThat(third.get(30, TimeUnit.SECONDS).queuePosition()).isEqualTo(1);
            touch("behind");
            assertThat(two.read(sandbox, third.join().id(), 0, Replica.LONG).status())
                    .isEqualTo(ExecutionStatus.OK);
        }
    }

    /** Begins to run what will print nothing, and returns when it waits for others. */
    private static CompletableFuture<ExecutionResult> queued(Replica where, String code) throws Exception {
        CompletableFuture<Void> waits = new CompletableFuture<>();
        CompletableFuture<ExecutionResult> result = where.executions
                .run(sandbox, Replica.code(code, Replica.PATIENT), new OutputListener() {
                    @Override
                    public CompletionStage<?> output(long bytesSoFar, String text) {
                        return CONSUMED;
                    }

                    @Override
                    public void queued(Duration atMost) {
                        waits.complete(null);
                    }
                })
                .toFuture();
        waits.get(30, TimeUnit.SECONDS);
        return result;
    }

    @Test
    void aFullQueueRejects() {
        List<ExecutionResult> started = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            started.add(one.run(sandbox, Replica.code(UNTIL_FILE.formatted("full"), Replica.background())));
        }
        ExecutionResult rejected = two.run(sandbox, "1");
        assertThat(rejected.status()).isEqualTo(ExecutionStatus.REJECTED);
        assertThat(rejected.message()).contains("Not started").contains("8");
        touch("full");
        for (ExecutionResult each : started) {
            assertThat(one.read(sandbox, each.id(), 0, Replica.LONG).status()).isEqualTo(ExecutionStatus.OK);
        }
    }

    @Test
    void longOutputKeepsHeadAndTailAndTheRestIsReadInPages() {
        ExecutionResult cut = one.run(
                sandbox,
                Replica.code("for i in range(1000): print(i)", new Limits(Replica.LONG, Replica.LONG, false, 100)));
        assertThat(cut.stdout())
                .startsWith("0\n1\n")
                .contains("exceeded 100 character limit")
                .endsWith("\n999\n");
        assertThat(cut.truncated()).isTrue();
        StringBuilder whole = new StringBuilder(cut.stdout().substring(0, (int) cut.nextOffset()));
        ExecutionResult page;
        long offset = cut.nextOffset();
        do {
            page = Objects.requireNonNull(two.executions
                    .read(sandbox, cut.id(), offset, Duration.ZERO, 700, OutputListener.NONE)
                    .block(Replica.LONG));
            assertThat(page.status()).isEqualTo(ExecutionStatus.OK);
            whole.append(page.stdout());
            offset = page.nextOffset();
        } while (page.truncated());
        assertThat(whole.toString().lines()).hasSize(1000).startsWith("0", "1").endsWith("998", "999");
    }

    @Test
    void aLongResultAndALongTracebackAreReadInPages() {
        String code =
                "def f(n): raise ValueError('€' * 3000) if n == 0 else f(n - 1)\nimport sys\nsys.displayhook('a😀' * 700)\nf(3)";
        ExecutionResult cut = one.run(sandbox, Replica.code(code, new Limits(Replica.LONG, Replica.LONG, false, 100)));
        assertThat(cut.status()).isEqualTo(ExecutionStatus.ERROR);
        assertThat(cut.result()).contains("exceeded 100 character limit");
        assertThat(cut.truncated()).isTrue();
        StringBuilder result = new StringBuilder(head(cut.result()));
        StringBuilder traceback = new StringBuilder();
        long offset = cut.nextOffset();
        ExecutionResult page;
        do {
            page = page(cut.id(), offset, 700);
            assertThat(page.nextOffset()).isGreaterThan(offset);
            result.append(Objects.requireNonNullElse(page.result(), ""));
            ExecutionError error = page.error();
            traceback.append(error == null ? "" : error.traceback());
            offset = page.nextOffset();
        } while (page.truncated());
        assertThat(result).hasToString("'" + "a😀".repeat(700) + "'");
        assertThat(traceback.toString()).contains("f(n - 1)").endsWith("ValueError: " + "€".repeat(3000));
    }

    @Tag("slow")
    @Test
    void theLongestResultThatIsKeptIsReadInPages() {
        ExecutionResult cut = one.run(sandbox, "'0123456789' * 200_000");
        StringBuilder result = new StringBuilder(head(cut.result()));
        long offset = cut.nextOffset();
        ExecutionResult page;
        int pages = 0;
        do {
            page = page(cut.id(), offset, 1_000_000);
            result.append(page.result());
            offset = page.nextOffset();
            pages++;
        } while (page.truncated());
        assertThat(pages).isEqualTo(2);
        assertThat(result.length()).isBetween(1024 * 1024 - 64, 1024 * 1024);
        assertThat(result.toString()).startsWith("'0123").endsWith("6789'");
        Matcher note = Pattern.compile("\n\\[\\.\\.\\. (\\d+) bytes left out \\.\\.\\.\\]\n")
                .matcher(result);
        assertThat(note.find()).isTrue();
        assertThat(result.length() - note.group().length() + Integer.parseInt(note.group(1)))
                .as("what is kept and what is said to be left out")
                .isEqualTo(2_000_002);
    }

    private static String head(@Nullable String cut) {
        return String.valueOf(cut).split("\n\\[Output truncated", 2)[0];
    }

    private ExecutionResult page(ExecutionId id, long offset, int size) {
        return Objects.requireNonNull(two.executions
                .read(sandbox, id, offset, Duration.ZERO, size, OutputListener.NONE)
                .block(Replica.LONG));
    }

    @Tag("slow")
    @Test
    void anOffsetBehindTheEndIsRefusedWhetherItRunsOrEnded() {
        Code code = Replica.code("print('first', flush=True)\n" + UNTIL_FILE.formatted("end"), Replica.waiting(MOMENT));
        ExecutionId id = one.run(sandbox, code).id();
        await().until(() -> two.read(sandbox, id, 0, MOMENT).stdout().equals("first\n"));
        assertThat(two.read(sandbox, id, 6, MOMENT).status()).isEqualTo(ExecutionStatus.RUNNING);
        assertThatThrownBy(() -> two.read(sandbox, id, 7, Replica.LONG))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("'offset': 7 is behind the end; the execution has 6 bytes of output so far.");

        touch("end");
        assertThat(two.read(sandbox, id, 6, Replica.LONG).status()).isEqualTo(ExecutionStatus.OK);
        assertThatThrownBy(() -> two.read(sandbox, id, 5000, Duration.ZERO))
                .hasMessageContaining("5000 is behind the end; the execution has 6 bytes");
    }

    @Test
    void anExecutionThatNeverCameDidNotRun() {
        ExecutionId unknown = ExecutionId.random("default", sandbox.uid(), 1);
        ExecutionResult result = one.read(sandbox, unknown, 0, Duration.ZERO);
        assertThat(result.status()).isEqualTo(ExecutionStatus.REJECTED);
        assertThat(result.message()).contains("never came");
    }

    @Test
    void anExecutionOfAnotherIncarnationIsLost() {
        ExecutionId old = ExecutionId.random("default", sandbox.uid(), 2);
        ExecutionResult result = one.read(sandbox, old, 5, Duration.ZERO);
        assertThat(result.status()).isEqualTo(ExecutionStatus.LOST);
        assertThat(result.nextOffset()).isEqualTo(5);
        assertThat(result.message()).startsWith("The pod in which it ran is gone: another one took its place.");
    }
}
