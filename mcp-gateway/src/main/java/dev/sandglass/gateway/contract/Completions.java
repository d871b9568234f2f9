package dev.sandglass.gateway.contract;

import dev.sandglass.gateway.caller.Caller;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Completes what a person types for an argument of a prompt or a resource template (MCP 2026-07-28, completion). */
public interface Completions {

    /** Most values of one answer: the protocol's own bound. */
    int MOST_VALUES = 100;

    /**
     * The values that begin with what was typed.
     *
     * @return errors with {@link InvalidArgument} if there is no such prompt, template or argument
     */
    Mono<Values> complete(Caller caller, Question question);

    /** What the argument belongs to. */
    sealed interface Reference {

        /** A prompt. */
        record ToPrompt(String name) implements Reference {}

        /** A resource template. */
        record ToTemplate(String uriTemplate) implements Reference {}
    }

    /**
     * What is to be completed.
     *
     * @param argument its name
     * @param typed so far; may be empty
     * @param others arguments that have their values already
     */
    record Question(Reference reference, String argument, String typed, Map<String, String> others) {

        /** Keeps its own copy of the map. */
        public Question {
            others = Map.copyOf(others);
        }
    }

    /**
     * The answer.
     *
     * @param values at most {@link #MOST_VALUES}
     * @param total how many there are; null if that is not known
     * @param more whether there are more than these
     */
    record Values(List<String> values, @Nullable Integer total, boolean more) {

        /** Keeps its own copy of the list. */
        public Values {
            values = List.copyOf(values);
        }

        /**
         * The first of these.
         *
         * @param complete whether these are all
         */
        public static Values firstOf(List<String> all, boolean complete) {
            boolean cut = all.size() > MOST_VALUES;
            return new Values(
                    cut ? all.subList(0, MOST_VALUES) : all, complete ? (Integer) all.size() : null, cut || !complete);
        }

        /** No value. */
        public static Values none() {
            return firstOf(List.of(), true);
        }
    }
}
