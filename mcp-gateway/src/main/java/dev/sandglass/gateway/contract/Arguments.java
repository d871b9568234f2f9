package dev.sandglass.gateway.contract;

import dev.sandglass.api.EnvRules;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The arguments of a call, read field by field with a bound on everything. Whatever breaks a rule is an
 * {@link InvalidArgument}. JSON null counts as absent. A field that no tool knows is refused: ignored, a misspelt
 * {@code timeout} would silently be the default one.
 */
public final class Arguments {

    private final ObjectNode fields;
    private final String path;
    private final Optional<Duration> patience;

    private Arguments(ObjectNode fields, String path, Optional<Duration> patience) {
        this.fields = fields;
        this.path = path;
        this.patience = patience;
    }

    /** The arguments of a call as they came. */
    public static Arguments of(ObjectNode fields) {
        return of(fields, Optional.empty());
    }

    /**
     * The same of a caller who waits no longer than that for any answer.
     *
     * @param patience counts where the arguments have no {@code wait}
     */
    public static Arguments of(ObjectNode fields, Optional<Duration> patience) {
        return new Arguments(fields, "", patience);
    }

    /** How long to hold the line if the arguments do not say it: so long, or less for an impatient caller. */
    public Duration patience(Duration otherwise) {
        return patience.filter(least -> least.compareTo(otherwise) < 0).orElse(otherwise);
    }

    /** No arguments. */
    public static Arguments none() {
        return of(JsonNodeFactory.instance.objectNode());
    }

    /** Refuses arguments that are not among the known ones. */
    public void refuseOthersThan(Set<String> known) {
        refuseOthersThan(known, Map.of());
    }

    private void refuseOthersThan(Set<String> known, Map<String, String> foreign) {
        for (String name : fields.propertyNames()) {
            String instead = foreign.get(name);
            if (instead != null && has(name)) {
                throw InvalidArgument.foreign(path + name, instead);
            }
            if (instead == null && !known.contains(name)) {
                throw broken(
                        shown(name),
                        "is not known" + meant(name, known) + "; known are " + String.join(", ", new TreeSet<>(known)));
            }
        }
    }

    /** A field as errors call it, with the object in which it stands. */
    public String name(String field) {
        return path + field;
    }

    public boolean has(String field) {
        return fields.hasNonNull(field);
    }

    /** Whether a field asks for anything: many models fill what they would leave out with "", false or []. */
    public boolean asks(String field) {
        JsonNode node = fields.path(field);
        boolean empty = (node.isString() && node.asString().isEmpty()) || (node.isArray() && node.isEmpty());
        boolean no = node.isBoolean() && !node.asBoolean();
        return has(field) && !empty && !no;
    }

    public boolean isObject(String field) {
        return fields.path(field).isObject();
    }

    public String requiredText(String field, int maxChars) {
        return given(field, maxChars)
                .orElseThrow(() -> new InvalidArgument("Missing required '" + path + field + "' parameter"));
    }

    /** A text that may be left out; models write {@code ""} for that. */
    public Optional<String> text(String field, int maxChars) {
        return given(field, maxChars).filter(text -> !text.isEmpty());
    }

    /** A text as it was given, be it empty. */
    public Optional<String> given(String field, int maxChars) {
        return value(field).map(node -> text(node, field, maxChars));
    }

    /** A number of seconds, whole or not. */
    public Optional<Duration> seconds(String field, Duration least, Duration most) {
        return value(field).map(node -> {
            double seconds = node.isNumber() ? node.asDouble() : Double.NaN;
            if (!(seconds >= millis(least) && seconds <= millis(most))) {
                throw broken(field, "must be a number of seconds from %s to %s".formatted(plain(least), plain(most)));
            }
            return Duration.ofMillis(Math.round(seconds * 1000));
        });
    }

    public OptionalInt integer(String field, int least, int most) {
        Optional<JsonNode> given = value(field);
        if (given.isEmpty()) {
            return OptionalInt.empty();
        }
        long value = longValue(given.get(), field, least, most);
        return OptionalInt.of((int) value);
    }

    public long offset(String field) {
        return value(field)
                .map(node -> longValue(node, field, 0, Long.MAX_VALUE))
                .orElse(0L);
    }

    public boolean flag(String field) {
        return value(field)
                .map(node -> {
                    if (!node.isBoolean()) {
                        throw broken(field, "must be true or false");
                    }
                    return node.asBoolean();
                })
                .orElse(false);
    }

    public Optional<List<String>> texts(String field, int maxItems, int maxChars) {
        return value(field).map(node -> {
            if (!node.isArray() || node.size() > maxItems) {
                throw broken(field, "must be a list of at most %d texts".formatted(maxItems));
            }
            var texts = new ArrayList<String>(node.size());
            for (JsonNode item : node) {
                texts.add(text(item, field + "[" + texts.size() + "]", maxChars));
            }
            return List.copyOf(texts);
        });
    }

    /** A map, or the {@code KEY=VALUE} list of contracts.md M11. */
    public Optional<Map<String, String>> variables(String field) {
        return value(field).map(node -> {
            if (node.isArray()) {
                return Variables.ofPairs(
                        path + field,
                        texts(field, EnvRules.MAX_ENTRIES, EnvRules.MAX_BYTES).orElseThrow());
            }
            if (!node.isObject()) {
                throw broken(field, "must be an object of texts or a list of KEY=VALUE texts");
            }
            var map = new LinkedHashMap<String, String>();
            node.properties()
                    .forEach(entry -> map.put(
                            entry.getKey(), text(entry.getValue(), field + "." + entry.getKey(), EnvRules.MAX_BYTES)));
            return Variables.checked(path + field, map);
        });
    }

    /** Pairs of texts as an object, or as a list of texts with a colon behind each name. Their names are not checked. */
    public Optional<Map<String, String>> pairs(String field, int maxItems, int maxChars) {
        return value(field).map(node -> {
            var pairs = new LinkedHashMap<String, String>();
            if (node instanceof ObjectNode object && object.size() <= maxItems) {
                object.properties()
                        .forEach(entry -> pairs.put(
                                entry.getKey(), text(entry.getValue(), field + "." + shown(entry.getKey()), maxChars)));
                return pairs;
            }
            if (!node.isArray() || node.size() > maxItems) {
                throw broken(
                        field,
                        "must be an object, or a list of 'Name: value' texts, of at most %d".formatted(maxItems));
            }
            for (String pair : texts(field, maxItems, 2 * maxChars).orElseThrow()) {
                int colon = pair.indexOf(':');
                if (colon < 0) {
                    throw broken(field, "must have texts of the form 'Name: value'");
                }
                pairs.put(
                        pair.substring(0, colon).strip(),
                        pair.substring(colon + 1).strip());
            }
            return pairs;
        });
    }

    /** A Kubernetes quantity, as text or number; a bare number counts {@code unit}. */
    public Optional<String> quantity(String field, String unit) {
        return value(field).map(node -> Quantities.read(path + field, node, unit));
    }

    /** A duration as the resource takes it, as text or as a whole number of seconds. */
    public Optional<String> timeLimit(String field, TimeLimit limit) {
        return value(field).map(node -> {
            OptionalLong seconds = WholeNumbers.read(node);
            String text = seconds.isPresent() ? seconds.getAsLong() + "s" : node.isString() ? node.asString() : "";
            limit.problem(text).ifPresent(problem -> {
                throw broken(field, problem + ", or a whole number of seconds");
            });
            return text;
        });
    }

    /** Ports of a sandbox, as numbers or texts (contracts.md M10). */
    public Optional<List<SandboxPort>> ports(String field) {
        return value(field).map(node -> PortMappings.read(path + field, node));
    }

    /** Whether one of those ports was written with a host's. */
    public boolean namesHosts(String field) {
        return value(field).filter(PortMappings::nameHosts).isPresent();
    }

    /** The object in that field, whose fields must all be among the known ones. */
    public Optional<Arguments> object(String field, Set<String> known) {
        return object(field, known, Map.of());
    }

    /**
     * The same, where fields of another system are told what to do instead.
     *
     * @param foreign their names, with that
     */
    public Optional<Arguments> object(String field, Set<String> known, Map<String, String> foreign) {
        return value(field).map(node -> {
            if (!(node instanceof ObjectNode object)) {
                throw broken(field, "must be an object");
            }
            Arguments inner = new Arguments(object, path + field + ".", patience);
            inner.refuseOthersThan(known, foreign);
            return inner;
        });
    }

    private Optional<JsonNode> value(String field) {
        return fields.hasNonNull(field) ? Optional.of(fields.get(field)) : Optional.empty();
    }

    private String text(JsonNode node, String field, int maxChars) {
        if (!node.isString()) {
            throw broken(field, "must be a text");
        }
        String text = node.asString();
        if (text.length() > maxChars) {
            throw broken(field, "must have at most %d characters, has %d".formatted(maxChars, text.length()));
        }
        if (text.indexOf('\0') >= 0) {
            throw broken(field, "must not contain the character U+0000");
        }
        // It would silently become a question mark where it becomes bytes.
        if (!HalfCharacters.noneIn(text)) {
            throw broken(field, "holds half a character (an unpaired surrogate), which no text may");
        }
        return text;
    }

    private long longValue(JsonNode node, String field, long least, long most) {
        OptionalLong value = WholeNumbers.read(node);
        if (value.isEmpty() || value.getAsLong() < least || value.getAsLong() > most) {
            throw broken(field, "must be a whole number from %d to %d".formatted(least, most));
        }
        return value.getAsLong();
    }

    private InvalidArgument broken(String field, String rule) {
        return new InvalidArgument("'%s%s' %s".formatted(path, field, rule));
    }

    private static String meant(String name, Set<String> known) {
        String meaning = ArgumentRepair.meant(name, known);
        return (meaning.equals(name) ? ArgumentRepair.similar(known, name) : Optional.of(meaning))
                .map(similar -> " (did you mean '%s'?)".formatted(similar))
                .orElse("");
    }

    private static String shown(String name) {
        return name.length() <= 63 ? name : name.substring(0, 63) + "…";
    }

    private static double millis(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    private static String plain(Duration duration) {
        return duration.toMillis() % 1000 == 0
                ? String.valueOf(duration.toSeconds())
                : String.valueOf(millis(duration));
    }
}
