package dev.sandglass.gateway.adoption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.ExecutionRequest.Code;
import dev.sandglass.gateway.execution.ExecutionRequest.Limits;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.LinkSettings;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.testing.TestLinks;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** A replica that goes, one that is left, and a real sandbox in which code runs about which no caller asks. */
class AdoptedRunTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    /** One replica, as far as it has to do with adoption. */
    private record Replica(LinkClient links, Executions executions, Adoption adoption) implements AutoCloseable {

        static Replica named(String name, RunningSandbox sandbox) {
            LinkClient links =
                    TestLinks.start(LinkSettings.defaults(name), SupervisorProcess.SECRET, new Answering(name));
            var executions = new Executions(links, _ -> Flux.never());
            var adoption = new Adoption(name, new Busy(sandbox), executions::adopt, new SimpleMeterRegistry());
            return new Replica(links, executions, adoption);
        }

        /** As a process that is killed: nothing is said to anybody. */
        @Override
        public void close() {
            adoption.close();
            links.close();
        }
    }

    /** Answers calls of tools with its name. */
    private record Answering(String name) implements PodCalls {
        @Override
        public Set<String> kinds() {
            return Set.of("tool_servers", "tool_list", "tool_call");
        }

        @Override
        public CompletableFuture<PodAnswer> answer(PodCall call) {
            Blob result = Blob.utf8("{\"content\":[{\"type\":\"text\",\"text\":\"by %s\"}]}".formatted(name));
            return CompletableFuture.completedFuture(
                    new PodAnswer(new Answer(JsonMapper.shared().createObjectNode(), result)));
        }
    }

    /** That sandbox alone, whose Lease says busy. */
    private record Busy(RunningSandbox sandbox) implements Candidates {
        @Override
        public boolean isKnown() {
            return true;
        }

        @Override
        public List<RunningSandbox> running() {
            return List.of(sandbox);
        }

        @Override
        public boolean mayCall(RunningSandbox one) {
            return true;
        }

        @Override
        public Mono<Boolean> mayBeBusy(RunningSandbox one) {
            return Mono.just(true);
        }
    }

    @Test
    void codeCallsToolsThroughTheReplicaThatIsLeft() throws IOException {
        try (SupervisorProcess supervisor = SupervisorProcess.start()) {
            RunningSandbox sandbox = supervisor.sandbox();
            String owner = owner(sandbox);
            Path workspace = supervisor.workspace();
            try (Replica left = Replica.named("left", sandbox)) {
                left.adoption().serving(Set.of(owner));
                left.adoption().start();
                try (Replica gone = Replica.named(owner, sandbox)) {
                    begin(gone, sandbox);
                }
                assertThat(left.links().stats().opened()).isZero();

                left.adoption().serving(Set.of());
                Files.writeString(workspace.resolve("go-on"), "");

                await().atMost(LONG).until(() -> Files.exists(workspace.resolve("came")));
                assertThat(Files.readString(workspace.resolve("came"))).isEqualTo("by left");
            }
        }
    }

    /** The name of another replica that has the sandbox as long as it serves. */
    private static String owner(RunningSandbox sandbox) {
        return IntStream.range(0, 1000)
                .mapToObj(n -> "gone-" + n)
                .filter(name -> !new Peers("left", Set.of(name)).isOfSelf(sandbox.uid()))
                .findFirst()
                .orElseThrow();
    }

    /** The call goes to the replica that died if the pod does not know that yet; that it may have been carried out is told. */
    private static void begin(Replica replica, RunningSandbox sandbox) {
        replica.executions().awaitKernel(sandbox).block(LONG);
        String code = """
                import mcptools, os, time
                while not os.path.exists("go-on"): time.sleep(0.005)
                try:
                    came = mcptools.call("clock", "now", {})
                except mcptools.Unreachable as lost:
                    assert "the gateway that had the call is gone" in str(lost)
                    came = mcptools.call("clock", "now", {})
                with open("came.part", "w") as file: file.write(came)
                os.rename("came.part", "came")
                """;
        var request = new Code("python", "default", null, code, Map.of(), new Limits(LONG, LONG, true, 1000));
        ExecutionResult begun = Objects.requireNonNull(
                replica.executions().run(sandbox, request, OutputListener.NONE).block(LONG));
        assertThat(begun.status()).as(begun.message()).isEqualTo(ExecutionStatus.RUNNING);
    }
}
