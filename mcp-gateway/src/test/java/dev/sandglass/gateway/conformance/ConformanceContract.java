package dev.sandglass.gateway.conformance;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Completions;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Prompt;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.Tool;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/**
 * A contract of the names that the suite calls. It has what a contract of Sandglass can have and no more: what the suite
 * asks beyond that is an expected failure.
 */
final class ConformanceContract implements Contract {

    /** A picture of one grey point, as PNG. */
    static final String PICTURE =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

    private static final String FIRST = "arg1";
    private static final String SECOND = "arg2";

    private static final Prompt SIMPLE = new Prompt(
            "test_simple_prompt", "Says one sentence.", List.of(), _ -> "This is a simple prompt for testing.");

    private static final Prompt WITH_ARGUMENTS = new Prompt(
            "test_prompt_with_arguments",
            "Says its two arguments.",
            List.of(
                    new Prompt.Argument(FIRST, "The first argument", true),
                    new Prompt.Argument(SECOND, "The second argument", true)),
            given -> "Prompt with arguments: arg1='%s', arg2='%s'".formatted(given.get(FIRST), given.get(SECOND)));

    private final Sessions sessions = new KnownSessions();

    @Override
    public String path() {
        return "conformance";
    }

    @Override
    public Offer offer(Query query) {
        return new Offer(
                "conformance",
                "Conformance",
                "Answers the official conformance suite.",
                List.of(SIMPLE, WITH_ARGUMENTS),
                ConformanceTools.ALL,
                Optional.of(new ConformanceResources()),
                Optional.of(ConformanceContract::complete),
                true);
    }

    @Override
    public Optional<Sessions> sessions(Query query) {
        return Optional.of(sessions);
    }

    private static Mono<Completions.Values> complete(Caller caller, Completions.Question question) {
        if (!question.reference().equals(new Completions.Reference.ToPrompt(WITH_ARGUMENTS.name()))) {
            return Mono.error(new InvalidArgument("'ref' must be the prompt " + WITH_ARGUMENTS.name()));
        }
        List<String> values = Stream.of("tested", "testing")
                .filter(value -> value.startsWith(question.typed()))
                .toList();
        return Mono.just(Completions.Values.firstOf(values, true));
    }

    /** Sessions with an end, as those of the drop-in contracts. */
    private static final class KnownSessions implements Sessions {
        private final Set<String> known = ConcurrentHashMap.newKeySet();

        @Override
        public String begin(Caller caller) {
            String session = UUID.randomUUID().toString();
            known.add(session);
            return session;
        }

        @Override
        public boolean knows(Caller caller, String session) {
            return known.contains(session);
        }

        @Override
        public Tool.Subject subject(Caller caller, String session) {
            return new Tool.Subject("conformance", session);
        }

        @Override
        public void forget(String session) {
            known.remove(session);
        }

        @Override
        public Mono<Void> end(Caller caller, String session) {
            return Mono.fromRunnable(() -> forget(session));
        }
    }
}
