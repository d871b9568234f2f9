package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.LinkEvent;
import dev.sandglass.gateway.link.OutputReader;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import tools.jackson.databind.json.JsonMapper;

/** What is asked while somebody waits for a kernel, and what is left of it. */
class KernelWaitTest {

    private final SilentLink link = new SilentLink();
    private final List<Throwable> dropped = new ArrayList<>();

    /** Each would keep the link dialling for an hour. */
    @Test
    void whoGivesUpLeavesNoQuestionBehind() {
        Disposable waits = await().subscribe();
        link.happens(new LinkEvent.Opened("boot"));
        assertThat(link.questions).hasSize(1).noneMatch(CompletableFuture::isDone);

        waits.dispose();

        assertThat(link.questions).allMatch(CompletableFuture::isCancelled);
        assertThat(link.listeners).isEmpty();
        assertThat(dropped).isEmpty();
    }

    @Test
    void norDoesOneWhoHeardThatTheKernelIsReady() {
        CompletableFuture<Void> ready = await().toFuture();
        link.happens(new LinkEvent.Kernel("python/default", "ready"));
        assertThat(ready).isCompleted();
        assertThat(link.questions).hasSize(1).allMatch(CompletableFuture::isCancelled);
        assertThat(dropped).isEmpty();
    }

    @Test
    void theAnswerToALaterQuestionIsHeard() {
        CompletableFuture<Void> ready = await().toFuture();
        link.answers(0, "starting");
        link.happens(new LinkEvent.Kernel("python/default", "given_up"));
        link.answers(1, "dead");
        assertThatThrownBy(ready::join).hasCauseInstanceOf(SandboxProblem.Refused.class);
    }

    /** A caller who wanted a fresh kernel has it now. */
    @Test
    void aKernelThatIsTakenIsNotWaitedFor() {
        CompletableFuture<Void> ready = await().toFuture();
        link.answers(0, "starting");
        link.happens(new LinkEvent.Kernel("python/default", "taken"));
        link.answer(1, "{\"kernels\":[]}");
        assertThat(ready).isCompleted();
    }

    /** Each would be a message to a sandbox that goes on saying so. */
    @Test
    void oneQuestionAtATimeHoweverOftenTheSandboxSaysThatItGaveUp() {
        CompletableFuture<Void> ready = await().toFuture();
        for (int i = 0; i < 1000; i++) {
            link.happens(new LinkEvent.Kernel("python/default", "given_up"));
        }
        assertThat(link.questions).hasSize(1);
        link.answers(0, "starting");
        assertThat(link.questions).hasSize(2);
        link.answers(1, "starting");
        assertThat(link.questions).hasSize(2);
        assertThat(ready).isNotDone();
    }

    @Test
    void aSandboxWhoseNetworkIsOpenFailsToStartInTheSupervisorsWords() {
        CompletableFuture<Void> ready = await().toFuture();
        link.happens(new LinkEvent.NetworkOpen());
        link.answers(0, "starting");
        link.answer(1, "{\"kernels\":[],\"network\":{\"reached\":\"192.0.2.1:443\",\"refusal\":\"It is open\"}}");

        assertThatThrownBy(ready::join)
                .hasCauseInstanceOf(SandboxProblem.StartFailed.class)
                .hasMessageContaining("cannot start (NetworkOpen): It is open");
    }

    /** The installation lets it run all the same. */
    @Test
    void anOpenNetworkWithoutRefusalIsNoReasonToFail() {
        CompletableFuture<Void> ready = await().toFuture();
        link.answer(0, "{\"kernels\":[],\"network\":{\"reached\":\"192.0.2.1:443\",\"refusal\":null}}");

        assertThat(ready).isCompleted();
    }

    private Mono<Void> await() {
        RunningSandbox sandbox = new RunningSandbox(
                new SandboxRef("default", "sandglass-default", "box", "box"), "uid", 1, "10.0.0.1", 5710);
        return Mono.<Void>create(sink -> new KernelWait(sandbox, link, sink).begin())
                .contextWrite(Context.of("reactor.onErrorDropped.local", (Consumer<Throwable>) dropped::add));
    }

    /** An open link to one who says nothing by himself. */
    private static final class SilentLink implements Link {
        final List<CompletableFuture<Answer>> questions = new ArrayList<>();
        final List<Consumer<LinkEvent>> listeners = new ArrayList<>();

        void happens(LinkEvent event) {
            List.copyOf(listeners).forEach(listener -> listener.accept(event));
        }

        void answers(int question, String state) {
            String kernels = "{\"kernels\":[{\"language\":\"python\",\"session\":\"default\",\"state\":\"%s\"}]}";
            answer(question, kernels.formatted(state));
        }

        void answer(int question, String json) {
            questions.get(question).complete(new Answer(JsonMapper.shared().readTree(json), Blob.EMPTY));
        }

        @Override
        public CompletableFuture<Answer> ask(Verb verb, Duration timeout) {
            CompletableFuture<Answer> answer = new CompletableFuture<>();
            questions.add(answer);
            return answer;
        }

        @Override
        public CompletableFuture<Answer> follow(Verb.Following verb, OutputReader reader, Duration timeout) {
            throw new AssertionError("nothing runs");
        }

        @Override
        public void unfollow(OutputReader reader) {
            throw new AssertionError("nothing runs");
        }

        @Override
        public Subscription events(Consumer<LinkEvent> listener) {
            listeners.add(listener);
            return () -> listeners.remove(listener);
        }

        @Override
        public void release() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void execute(Runnable action) {
            action.run();
        }

        @Override
        public Subscription after(Duration delay, Runnable action) {
            throw new AssertionError("nothing is timed");
        }
    }
}
