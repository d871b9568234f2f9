package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reports what a start waits for to a caller who wants progress, in the words of the resource. */
final class StartProgress {

    private StartProgress() {}

    /** Passes on each condition as it comes, one at a time; never ends by itself. */
    static <T> Mono<T> told(Flux<Optional<SandboxState>> states, OutputListener progress) {
        return states.mapNotNull(state -> state.flatMap(SandboxState::condition).orElse(null))
                .distinctUntilChanged()
                .index()
                .onBackpressureLatest()
                .concatMap(
                        words -> Mono.fromCompletionStage(progress.output(words.getT1() + 1, words.getT2() + ".\n"))
                                .onErrorComplete(),
                        1)
                .then(Mono.never());
    }
}
