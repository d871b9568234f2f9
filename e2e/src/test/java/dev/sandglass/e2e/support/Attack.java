package dev.sandglass.e2e.support;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Python from {@code src/test/resources/attack} that runs unchanged wherever it is put. */
public final class Attack {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String source;

    private Attack(String source) {
        this.source = source;
    }

    public static Attack named(String file) {
        try (InputStream stream = Objects.requireNonNull(Attack.class.getResourceAsStream("/attack/" + file), file)) {
            return new Attack(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The definitions as they stand in the file. */
    public String source() {
        return source;
    }

    /** What one attack of several came to. */
    public record Finding(String name, boolean reached, String how) {}

    /** Runs {@code attack(targets)} by way of the runner, which gets Python and gives back what it printed. */
    public Map<String, Finding> run(List<?> targets, UnaryOperator<String> runner) {
        List<Finding> findings =
                call("attack(json.loads(%s))".formatted(literal(json(targets))), runner, new TypeReference<>() {});
        return findings.stream().collect(Collectors.toMap(Finding::name, finding -> finding));
    }

    /** Evaluates an expression after the attack's definitions; its value. */
    public <T> T call(String expression, UnaryOperator<String> runner, TypeReference<T> type) {
        String printed = runner.apply(source + "\nimport json\nprint(json.dumps(" + expression + "))\n");
        try {
            return JSON.readValue(printed, type);
        } catch (JsonProcessingException e) {
            throw new AssertionError("the attack printed: " + printed, e);
        }
    }

    /** A text as Python writes it. */
    public static String literal(String text) {
        return json(text);
    }

    public static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
