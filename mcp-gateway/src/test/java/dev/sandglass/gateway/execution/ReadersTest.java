package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** An execution that several read at once through one replica. */
class ReadersTest extends LiveSandbox {

    @Test
    void severalReadersOfOneExecutionThroughOneReplica() {
        ExecutionId id = one.run(
                        sandbox,
                        Replica.code("print('text', flush=True)\n" + UNTIL_FILE.formatted("two"), Replica.background()))
                .id();
        List<CompletableFuture<ExecutionResult>> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(one.executions
                    .read(sandbox, id, 0, Replica.LONG, 1000, OutputListener.NONE)
                    .toFuture());
        }
        await().until(() -> one.links.stats().open() >= 3);
        touch("two");
        assertThat(readers).allSatisfy(reader -> {
            assertThat(reader.join().status()).isEqualTo(ExecutionStatus.OK);
            assertThat(reader.join().stdout()).isEqualTo("text\n");
        });
    }

    @Test
    void aReaderTooManyIsToldOfTheGatewaysBoundAndNotToStopTheSandbox() {
        ExecutionId id = one.run(sandbox, Replica.code(UNTIL_FILE.formatted("four"), Replica.background()))
                .id();
        List<CompletableFuture<ExecutionResult>> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            readers.add(one.executions
                    .read(sandbox, id, 0, Replica.LONG, 1000, OutputListener.NONE)
                    .toFuture());
        }

        assertThatThrownBy(() -> one.read(sandbox, id, 0, Replica.LONG))
                .isInstanceOf(SandboxProblem.class)
                .hasMessage("Too many readers of this execution: that is a bound of the gateway. Nothing is wrong with"
                        + " sandbox 'test', leave it as it is; try again when other calls were answered.");

        touch("four");
        assertThat(readers)
                .allSatisfy(reader -> assertThat(reader.join().status()).isEqualTo(ExecutionStatus.OK));
    }
}
