package dev.sandglass.gateway.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.quota.RequestScope;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Callers that ask for more of files than this process could hold. */
class FileTransferQueueTest {

    private static final long MIB = 1024 * 1024;

    private final FileTransferQueue turns = new FileTransferQueue(Duration.ofMinutes(1));
    private final List<Sinks.One<String>> begun = new ArrayList<>();
    private final List<CompletableFuture<String>> calls = new ArrayList<>();

    @AfterEach
    void nothingStaysInTheBooks() {
        calls.forEach(call -> call.cancel(false));
        assertThat(turns.size()).isZero();
    }

    private static RunningSandbox sandbox(String tenant, String uid) {
        return new RunningSandbox(new SandboxRef(tenant, "sandglass-" + tenant, uid, uid), uid, 1, "127.0.0.1", 1);
    }

    /** A call that goes on until the test ends it. */
    private Mono<String> call(RunningSandbox sandbox, long weight) {
        return turns.take(sandbox, weight, Mono.defer(() -> {
            Sinks.One<String> end = Sinks.one();
            begun.add(end);
            return end.asMono();
        }));
    }

    private void begin(Mono<String> call) {
        calls.add(call.toFuture());
    }

    private void begin(String tenant, String uid, long weight) {
        begin(call(sandbox(tenant, uid), weight));
    }

    @Test
    void fourHundredReadingsOfOneSandboxAreFourAtATimeAndALineAndRefusals() {
        for (int i = 0; i < 400; i++) {
            begin("a", "box", MIB);
        }
        assertThat(begun).hasSize(FileTransferQueue.OF_SANDBOX);
        int taken = FileTransferQueue.OF_SANDBOX + FileTransferQueue.WAITING;
        assertThat(calls.subList(0, taken)).noneMatch(CompletableFuture::isDone);
        assertThat(calls.subList(taken, 400)).allSatisfy(call -> assertThatThrownBy(call::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("Rejected: ")
                .hasMessageContaining("try again in a moment"));

        for (int i = 0; i < taken; i++) {
            begun.get(i).tryEmitValue("read");
            assertThat(begun.size() - i - 1).isLessThanOrEqualTo(FileTransferQueue.OF_SANDBOX);
        }
        assertThat(calls.subList(0, taken)).allSatisfy(call -> assertThat(call).isCompletedWithValue("read"));
    }

    @Test
    void otherSandboxesDoNotWaitForAFullLine() {
        for (int i = 0; i < 400; i++) {
            begin("a", "box", 1);
        }
        begin("a", "other", 1);
        assertThat(begun).hasSize(FileTransferQueue.OF_SANDBOX + 1);
    }

    @Test
    void aTenantHasItsBytesToTheLastAndNoMore() {
        begin("a", "one", FileTransferQueue.TENANT_BYTES - 1);
        begin("a", "two", 1);
        begin("a", "three", 1);
        assertThat(begun).hasSize(2);
        begin("b", "four", 1);
        assertThat(begun).hasSize(3);

        begun.get(1).tryEmitValue("read");
        assertThat(begun).hasSize(4);
    }

    @Test
    void allTenantsTogetherHaveTheirBytesToTheLastAndNoMore() {
        begin("a", "one", FileTransferQueue.TENANT_BYTES);
        begin("b", "two", FileTransferQueue.ALL_BYTES - FileTransferQueue.TENANT_BYTES);
        begin("c", "three", 1);
        assertThat(begun).hasSize(2);

        begun.get(0).tryEmitValue("read");
        assertThat(begun).hasSize(3);
    }

    @Test
    void soManyWaitInAllAndOneMoreIsRefused() {
        begin("a", "one", FileTransferQueue.TENANT_BYTES);
        for (int i = 0; i < FileTransferQueue.ALL_WAITING; i++) {
            begin("a", "box-" + i, 1);
            assertThat(calls.getLast()).isNotDone();
        }
        begin("a", "one more", 1);
        assertThat(calls.getLast()).isCompletedExceptionally();
        begin("b", "another", 1);
        assertThat(calls.getLast()).isNotDone();
        assertThat(begun).hasSize(2);
    }

    @Test
    void whoGivesUpLeavesTheLineAndItsTurn() {
        for (int i = 0; i < FileTransferQueue.OF_SANDBOX + 2; i++) {
            begin("a", "box", MIB);
        }
        calls.get(FileTransferQueue.OF_SANDBOX).cancel(false);
        assertThat(begun).hasSize(FileTransferQueue.OF_SANDBOX);
        calls.getFirst().cancel(false);
        assertThat(begun).hasSize(FileTransferQueue.OF_SANDBOX + 1);
        assertThat(calls.getLast()).isNotDone();
    }

    @Test
    void whoseTurnDoesNotComeIsToldSo() {
        FileTransferQueue hasty = new FileTransferQueue(Duration.ofMillis(20));
        for (int i = 0; i < FileTransferQueue.OF_SANDBOX; i++) {
            calls.add(hasty.take(sandbox("a", "box"), 1, Mono.<String>never()).toFuture());
        }
        assertThatThrownBy(() ->
                        hasty.take(sandbox("a", "box"), 1, Mono.just("never")).block(Duration.ofSeconds(30)))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("it waited");
    }

    @Test
    void manyThatFailAtOnceDoNotNestEndlessly() {
        begin("a", "one", FileTransferQueue.TENANT_BYTES);
        for (int i = 0; i < FileTransferQueue.ALL_WAITING; i++) {
            begin(turns.take(sandbox("a", "box-" + i), 1, Mono.error(new IllegalStateException("at once"))));
        }
        begun.getFirst().tryEmitValue("read");
        assertThat(calls).allMatch(CompletableFuture::isDone);
    }

    @Test
    void aTurnLastsUntilTheAnswerWasWritten() {
        List<Sinks.Empty<Void>> written = new ArrayList<>();
        for (int i = 0; i < FileTransferQueue.OF_SANDBOX + 1; i++) {
            Sinks.Empty<Void> write = Sinks.empty();
            written.add(write);
            begin(RequestScope.of(call(sandbox("a", "box"), MIB)
                    .flatMap(content -> write.asMono().thenReturn(content))));
        }
        List.copyOf(begun).forEach(read -> read.tryEmitValue("read"));
        assertThat(begun).hasSize(FileTransferQueue.OF_SANDBOX);

        written.getFirst().tryEmitEmpty();
        assertThat(begun).hasSize(FileTransferQueue.OF_SANDBOX + 1);
    }

    @Test
    void whoReadsTwiceForOneAnswerHasOneTurnAtATime() {
        Mono<String> twice =
                RequestScope.of(call(sandbox("a", "box"), MIB).flatMap(first -> call(sandbox("a", "box"), MIB)));
        for (int i = 0; i < FileTransferQueue.OF_SANDBOX; i++) {
            begin(twice);
        }
        for (int i = 0; i < 2 * FileTransferQueue.OF_SANDBOX; i++) {
            assertThat(begun).hasSizeGreaterThan(i);
            begun.get(i).tryEmitValue("read");
        }
        assertThat(calls).allSatisfy(call -> assertThat(call).isCompletedWithValue("read"));
    }

    @Test
    void whatFailsOrIsAbandonedIsGivenBackBeforeTheAnswer() {
        for (int i = 0; i < 2 * FileTransferQueue.OF_SANDBOX; i++) {
            begin(RequestScope.of(
                    turns.take(sandbox("a", "box"), MIB, Mono.<String>error(new IllegalStateException("no such file")))
                            .onErrorResume(told -> Mono.never())));
        }
        begin("a", "box", MIB);
        assertThat(begun).hasSize(1);
    }
}
