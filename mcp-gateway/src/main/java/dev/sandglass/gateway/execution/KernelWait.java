package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.LinkEvent;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.MonoSink;
import tools.jackson.databind.JsonNode;

/** Waits until a sandbox's first kernel is ready, closed, or given up: asks once per connection, then listens. */
final class KernelWait {

    // Whoever waits has a time-out of his own; this only keeps the link trying.
    private static final Duration LONG = Duration.ofHours(1);
    private static final String LANGUAGE = "python";
    private static final String SESSION = "default";
    private static final String KERNEL = LANGUAGE + "/" + SESSION;
    private static final String NETWORK_OPEN = "NetworkOpen";

    private final RunningSandbox sandbox;
    private final Link link;
    private final MonoSink<Void> sink;
    private final Disposable.Composite held = Disposables.composite();
    // On the link's thread.
    private @Nullable CompletableFuture<Answer> question;
    private boolean askAgain;

    KernelWait(RunningSandbox sandbox, Link link, MonoSink<Void> sink) {
        this.sandbox = sandbox;
        this.link = link;
        this.sink = sink;
    }

    /** Begins; ends with the sink. */
    void begin() {
        // The listener first: the kernel may become ready between the question and its answer.
        held.add(link.events(this::happened)::close);
        sink.onDispose(held);
        if (link.isOpen()) {
            link.execute(this::ask);
        }
    }

    private void happened(LinkEvent event) {
        switch (event) {
            case LinkEvent.Opened _, LinkEvent.NetworkOpen _ -> ask();
            case LinkEvent.Kernel kernel -> {
                if (kernel.kernel().equals(KERNEL)) {
                    happened(kernel.event());
                }
            }
        }
    }

    private void happened(String event) {
        switch (event) {
            case "ready" -> sink.success();
            case "given_up", "taken" -> ask();
            default -> {
                // It starts, or starts again.
            }
        }
    }

    /** One question at a time, however often the sandbox says that something happened. */
    private void ask() {
        if (question != null) {
            askAgain = true;
            return;
        }
        CompletableFuture<Answer> asked = link.ask(new Verb.ListAll(), LONG);
        question = asked;
        // Without that it would keep the link trying when nobody waits any more.
        Disposable withdrawal = () -> asked.cancel(false);
        held.add(withdrawal);
        var _ = asked.whenComplete((answer, failure) -> {
            held.remove(withdrawal);
            question = null;
            if (!asked.isCancelled()) {
                answered(answer, failure);
            }
            if (askAgain && !held.isDisposed()) {
                askAgain = false;
                ask();
            }
        });
    }

    private void answered(@Nullable Answer answer, @Nullable Throwable failure) {
        if (answer == null) {
            sink.error(failure == null ? new IllegalStateException("no answer") : Failures.problem(sandbox, failure));
            return;
        }
        String refusal = answer.json().path("network").path("refusal").asString("");
        if (!refusal.isEmpty()) {
            sink.error(new SandboxProblem.StartFailed(
                    sandbox.ref(), NETWORK_OPEN, refusal + ".", NextStep.Plain.STOP_AND_START));
            return;
        }
        for (JsonNode kernel : answer.json().path("kernels")) {
            if (kernel.path("language").asString("").equals(LANGUAGE)
                    && kernel.path("session").asString("").equals(SESSION)) {
                isKnown(kernel);
                return;
            }
        }
        // A supervisor begins with it: a caller closed it since, and its next use makes it anew.
        sink.success();
    }

    private void isKnown(JsonNode kernel) {
        switch (kernel.path("state").asString("")) {
            case "idle", "busy" -> sink.success();
            case "dead" ->
                sink.error(new SandboxProblem.Refused(
                        "The sandbox's Python kernel could not be started: %s."
                                .formatted(kernel.path("trouble").asString("no cause was told")),
                        NextStep.Plain.STOP_AND_START_OTHER_IMAGE));
            default -> {
                // It starts; an event will tell.
            }
        }
    }
}
