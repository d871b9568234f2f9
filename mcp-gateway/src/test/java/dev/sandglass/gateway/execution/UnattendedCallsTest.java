package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import tools.jackson.databind.json.JsonMapper;

/** Calls of shared tools by what runs in a real sandbox while no caller asks about it. */
class UnattendedCallsTest {

    /** Calls a tool once a file is there, and writes down what came of it; ends when another file is there. */
    private static final String CALLS = """
            import mcptools, os, time
            while not os.path.exists('%1$s'): time.sleep(0.005)
            try:
                came = mcptools.call('clock', 'now', {})
            except mcptools.ToolRunnerError as error:
                came = type(error).__name__
            with open('%1$s.part', 'w') as file: file.write(str(came))
            os.rename('%1$s.part', '%1$s.came')
            while not os.path.exists('%1$s.end'): time.sleep(0.005)
            """;

    private static SupervisorProcess supervisor;
    private static RunningSandbox sandbox;

    @BeforeAll
    static void start() {
        supervisor = SupervisorProcess.start();
        sandbox = supervisor.sandbox();
        try (Replica first = new Replica()) {
            first.executions.awaitKernel(sandbox).block(Replica.LONG);
        }
    }

    @AfterAll
    static void stop() {
        supervisor.close();
    }

    /** What a gateway answers; remembers who asked. */
    private static final class Clock implements PodCalls {
        private final String name;
        private final List<String> called = new CopyOnWriteArrayList<>();

        private Clock(String name) {
            this.name = name;
        }

        @Override
        public Set<String> kinds() {
            return Set.of("tool_servers", "tool_list", "tool_call");
        }

        @Override
        public CompletableFuture<PodAnswer> answer(PodCall call) {
            called.add(call.kind());
            Blob result = Blob.utf8("{\"content\":[{\"type\":\"text\",\"text\":\"told by %s\"}]}".formatted(name));
            return CompletableFuture.completedFuture(
                    new PodAnswer(new Answer(JsonMapper.shared().createObjectNode(), result)));
        }
    }

    private static void touch(String name) {
        try {
            Files.writeString(supervisor.workspace().resolve(name), "");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String read(String name) {
        try {
            return Files.readString(supervisor.workspace().resolve(name));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isThere(String name) {
        return Files.exists(supervisor.workspace().resolve(name));
    }

    private static void begin(Replica replica, String name) {
        ExecutionResult begun = replica.run(sandbox, Replica.code(CALLS.formatted(name), Replica.background()));
        assertThat(begun.status()).as(begun.message()).isEqualTo(ExecutionStatus.RUNNING);
    }

    @Test
    void aRunInTheBackgroundCallsToolsAfterItsGatewayDied() {
        var second = new Clock("the second");
        try (Replica two = new Replica(second)) {
            try (Replica one = new Replica(new Clock("the first"))) {
                begin(one, "died");
            }
            assertThat(two.executions.adopt(sandbox).block(Replica.LONG)).isEqualTo(Adopted.ADOPTED);
            touch("died");
            await().atMost(Replica.LONG).until(() -> isThere("died.came"));
            assertThat(read("died.came")).isEqualTo("told by the second");
            assertThat(second.called).containsExactly("tool_call");
            assertThat(two.executions.keptLinks()).isEqualTo(1);
        } finally {
            touch("died.end");
        }
    }

    /** Several at once do no harm: a call is made once, by one of them. */
    @Test
    void ofSeveralThatAdoptOneAnswers() {
        var second = new Clock("one of them");
        var third = new Clock("one of them");
        try (Replica two = new Replica(second);
                Replica three = new Replica(third)) {
            try (Replica one = new Replica(new Clock("the first"))) {
                begin(one, "both");
            }
            assertThat(two.executions.adopt(sandbox).block(Replica.LONG)).isEqualTo(Adopted.ADOPTED);
            assertThat(three.executions.adopt(sandbox).block(Replica.LONG)).isEqualTo(Adopted.ADOPTED);
            touch("both");
            await().atMost(Replica.LONG).until(() -> isThere("both.came"));
            assertThat(read("both.came")).isEqualTo("told by one of them");
            assertThat(second.called.size() + third.called.size()).isEqualTo(1);
        } finally {
            touch("both.end");
        }
    }

    /** A call of a pod finds a gateway, however long ago the run was begun and however few calls it makes. */
    @Test
    void theGatewayThatBeganARunKeepsItsLinkBeyondTheIdleTime() {
        try (Replica one = new Replica(new Clock("the first"), Duration.ofMillis(50))) {
            begin(one, "kept");
            assertThat(one.executions.keptLinks()).isEqualTo(1);
            // Another sandbox's link shows that links which nobody uses are closed meanwhile.
            try (SupervisorProcess other = SupervisorProcess.start()) {
                one.executions.awaitKernel(other.sandbox()).block(Replica.LONG);
                assertThat(one.links.stats().opened()).isGreaterThanOrEqualTo(2);
                await().atMost(Replica.LONG)
                        .until(() -> !one.executions.link(other.sandbox()).isOpen());
            }
            assertThat(one.executions.link(sandbox).isOpen()).isTrue();
            touch("kept");
            await().atMost(Replica.LONG).until(() -> isThere("kept.came"));
            assertThat(read("kept.came")).isEqualTo("told by the first");
        } finally {
            touch("kept.end");
        }
    }

    @Test
    void anAdoptedLinkIsLetGoWhenTheLastExecutionEnded() {
        try (Replica one = new Replica(new Clock("the first"));
                Replica two = new Replica(new Clock("the second"))) {
            var kept = new KeptLinks(two.executions::link, _ -> Flux.never(), 1, Duration.ofMillis(50));
            begin(one, "ends");
            assertThat(kept.adopt(sandbox).block(Replica.LONG)).isEqualTo(Adopted.ADOPTED);
            assertThat(kept.size()).isEqualTo(1);
            touch("ends");
            touch("ends.end");
            await().atMost(Replica.LONG).until(() -> kept.size() == 0);
            assertThat(kept.adopt(sandbox).block(Replica.LONG)).isEqualTo(Adopted.IDLE);
        }
    }
}
