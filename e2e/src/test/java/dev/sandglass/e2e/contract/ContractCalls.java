package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes the calls of one entry of {@link ContractTable} in one sandbox and remembers what later calls need. */
final class ContractCalls {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Set<String> WITHOUT_SANDBOX = Set.of("sandbox_get_execution", "sandbox_list");
    private static final Set<String> NO_FAILURE = Set.of("ok", "running");

    private final Agent agent;
    private final String sandbox;
    private final Map<String, Object> kept = new HashMap<>();

    ContractCalls(Agent agent, String sandbox) {
        this.agent = agent;
        this.sandbox = sandbox;
        kept.put("sandbox", sandbox);
    }

    void make(ContractTable.Call call) {
        if (call.eventually()) {
            await(call.call())
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(20))
                    .untilAsserted(() -> makeOnce(call));
        } else {
            makeOnce(call);
        }
    }

    private void makeOnce(ContractTable.Call call) {
        if (!call.refused().isEmpty()) {
            checkIs("refusal", filledIn(call.refused()), agent.refusal(call.call(), arguments(call)));
            return;
        }
        Answer answer = agent.call(call.call(), arguments(call));
        checkFlag(answer);
        call.data().forEach((field, expected) -> {
            assertThat(answer.data().containsKey(field))
                    .as("is there a '%s' in %s", field, answer)
                    .isTrue();
            checkIs(field, filledIn(expected), answer.data().get(field));
        });
        call.text().forEach(expected -> checkIs("text", filledIn(expected), answer.text()));
        assertThat(answer.pictures()).isEqualTo(call.pictures());
        call.keep()
                .forEach((name, field) -> kept.put(
                        name, Optional.ofNullable(answer.data().get(field)).orElseThrow()));
    }

    /** Of executions it is true for all but two outcomes; whatever else is not refused is no failure. */
    private static void checkFlag(Answer answer) {
        boolean execution = answer.data().containsKey("execution_id");
        assertThat(answer.failed())
                .as("isError of %s", answer)
                .isEqualTo(execution && !NO_FAILURE.contains(answer.status()));
    }

    private static void checkIs(String place, @Nullable Object expected, @Nullable Object actual) {
        assertThat(actual).as(place).matches(value -> Expectation.fits(expected, value), "is as expected: " + expected);
    }

    private Map<String, Object> arguments(ContractTable.Call call) {
        var arguments = new LinkedHashMap<String, Object>();
        if (!WITHOUT_SANDBOX.contains(call.call())) {
            arguments.put("sandbox", sandbox);
        }
        call.with()
                .forEach((name, value) ->
                        arguments.put(name, Optional.ofNullable(filledIn(value)).orElseThrow()));
        return arguments;
    }

    /** The same with what earlier answers gave in the place of its name. */
    private @Nullable Object filledIn(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case String text -> filledIn(text);
            case List<?> list -> list.stream().map(this::filledIn).toList();
            case Map<?, ?> map -> {
                var filled = new HashMap<Object, @Nullable Object>();
                map.forEach((key, inner) -> filled.put(key, filledIn(inner)));
                yield filled;
            }
            default -> value;
        };
    }

    private Object filledIn(String text) {
        String filled = text;
        for (Map.Entry<String, Object> entry : kept.entrySet()) {
            String place = "${" + entry.getKey() + "}";
            if (text.equals(place)) {
                return entry.getValue();
            }
            filled = filled.replace(place, entry.getValue().toString().strip());
        }
        return filled;
    }
}
