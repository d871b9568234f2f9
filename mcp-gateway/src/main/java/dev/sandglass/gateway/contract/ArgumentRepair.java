package dev.sandglass.gateway.contract;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Takes what models write for what they mean, where that can be one thing only: an argument's name in another spelling, a
 * number or a list as text, {@code ""} for what has no text. Whatever else is left as it came, for the tool to refuse in its
 * own words. Pure.
 */
final class ArgumentRepair {

    /** Names that other systems and models use; one counts only where a tool knows its meaning and not the name itself. */
    private static final Map<String, String> SYNONYMS = Map.ofEntries(
            Map.entry("sandboxname", "sandbox"),
            Map.entry("sandboxid", "sandbox"),
            Map.entry("name", "sandbox"),
            Map.entry("tenant", "namespace"),
            Map.entry("cmd", "command"),
            Map.entry("source", "code"),
            Map.entry("sourcecode", "code"),
            Map.entry("script", "code"),
            Map.entry("lang", "language"),
            Map.entry("env", "envs"),
            Map.entry("environment", "envs"),
            Map.entry("envvars", "envs"),
            Map.entry("workdir", "cwd"),
            Map.entry("workingdir", "cwd"),
            Map.entry("workingdirectory", "cwd"),
            Map.entry("timeouts", "timeout"),
            Map.entry("timeoutseconds", "timeout"),
            Map.entry("filepath", "path"),
            Map.entry("filename", "path"),
            Map.entry("file", "path"),
            Map.entry("contents", "content"),
            Map.entry("package", "packages"),
            Map.entry("packagename", "packages"),
            Map.entry("sessionid", "session"),
            Map.entry("sessionname", "session"),
            Map.entry("execution", "execution_id"),
            Map.entry("cpu", "cpus"),
            Map.entry("alloweddomain", "allowed_domains"));

    /** Longer ones are no spelling of ours. */
    private static final int MAX_NAME_CHARS = 63;

    /** Longer names are no slips of the pen. */
    private static final int MAX_SLIP_CHARS = 40;

    private static final int MOST_EDITS = 2;

    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,15}(\\.[0-9]{1,6})?");
    private static final Pattern BLANKS = Pattern.compile("\\s");

    /** More are no call of a model. */
    private static final int MAX_ARGUMENTS = 64;

    /** Of a list or an object that is given as text; the bounds inside are tighter than those of a whole request. */
    private static final int MAX_TEXT_CHARS = 64 * 1024;

    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(16)
                            .maxNameLength(1024)
                            .maxTokenCount(5_000)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** The types that a property may have; more are of no use here. */
    private static final String STRING = "string";

    private ArgumentRepair() {}

    /**
     * The arguments as the schema would have them.
     *
     * @param schema of an object; its properties say which names and types there are
     * @return a copy; the arguments stay as they are. Of two that mean the same, the one in another spelling stays too
     */
    static ObjectNode of(Map<String, Object> schema, ObjectNode arguments) {
        if (!(schema.get("properties") instanceof Map<?, ?> properties) || arguments.size() > MAX_ARGUMENTS) {
            return arguments;
        }
        ObjectNode repaired = JsonNodeFactory.instance.objectNode();
        Collection<?> required = schema.get("required") instanceof List<?> names ? names : List.of();
        for (Map.Entry<String, JsonNode> argument : arguments.properties()) {
            String meaning = meant(argument.getKey(), properties.keySet());
            boolean isTwice = !meaning.equals(argument.getKey()) && (arguments.has(meaning) || repaired.has(meaning));
            String name = isTwice ? argument.getKey() : meaning;
            JsonNode value = properties.get(name) instanceof Map<?, ?> property
                    ? value(property, argument.getValue())
                    : argument.getValue();
            boolean isLeftOut = isEmptyText(value) && properties.containsKey(name) && !required.contains(name);
            if (!value.isMissingNode() && !isLeftOut) {
                repaired.set(name, value);
            }
        }
        return repaired;
    }

    /** What models write for an argument that they would leave out. */
    private static boolean isEmptyText(JsonNode value) {
        return value.isString() && value.asString().isEmpty();
    }

    /** The one of the known names for which a name stands; the name itself if there is none. */
    static String meant(String given, Set<?> known) {
        if (known.contains(given) || given.length() > MAX_NAME_CHARS) {
            return given;
        }
        String plain = plain(given);
        for (Object name : known) {
            if (plain(String.valueOf(name)).equals(plain)) {
                return String.valueOf(name);
            }
        }
        @Nullable String meaning = SYNONYMS.get(plain);
        return meaning != null && known.contains(meaning) ? meaning : given;
    }

    /** Without what tells {@code maxOutputChars}, {@code max-output-chars} and {@code max_output_chars} apart. */
    private static String plain(String name) {
        return name.replace("_", "").replace("-", "").toLowerCase(Locale.ROOT);
    }

    /** The value in a type of its property; missing if there is none, as it came if that is not clear. */
    private static JsonNode value(Map<?, ?> property, JsonNode given) {
        Set<String> types = types(property);
        if (given instanceof ObjectNode object && types.contains("object")) {
            return objectForm(property).map(form -> of(form, object)).orElse(object);
        }
        if (types.contains(STRING) || !given.isString()) {
            return wrapped(types, given);
        }
        String text = given.asString();
        if (text.isEmpty() && !types.contains("array")) {
            return MissingNode.getInstance();
        }
        if (types.contains("boolean")) {
            return flag(text).<JsonNode>map(BooleanNode::valueOf).orElse(given);
        }
        if (NUMBER.matcher(text).matches() && (types.contains("integer") || types.contains("number"))) {
            return JSON.readTree(withoutLeadingZeros(text));
        }
        return structure(property, types, given, text);
    }

    /** A list of one, where a list is asked for. */
    private static JsonNode wrapped(Set<String> types, JsonNode given) {
        return given.isNumber() && types.equals(Set.of("array"))
                ? JsonNodeFactory.instance.arrayNode().add(given)
                : given;
    }

    private static JsonNode structure(Map<?, ?> property, Set<String> types, JsonNode given, String text) {
        Optional<JsonNode> parsed =
                types.contains("array") || types.contains("object") ? parsed(text) : Optional.empty();
        if (parsed.filter(ArrayNode.class::isInstance).isPresent() && types.contains("array")) {
            return parsed.get();
        }
        if (parsed.filter(ObjectNode.class::isInstance).isPresent() && types.contains("object")) {
            return value(property, parsed.get());
        }
        return types.contains("array")
                        && !text.isEmpty()
                        && !BLANKS.matcher(text).find()
                ? JsonNodeFactory.instance.arrayNode().add(text)
                : given;
    }

    private static Optional<JsonNode> parsed(String text) {
        String inner = text.length() > MAX_TEXT_CHARS ? "" : text.strip();
        if (!(inner.startsWith("[") && inner.endsWith("]")) && !(inner.startsWith("{") && inner.endsWith("}"))) {
            return Optional.empty();
        }
        try {
            return Optional.of(JSON.readTree(inner));
        } catch (JacksonException noJson) {
            return Optional.empty();
        }
    }

    private static String withoutLeadingZeros(String number) {
        return number.replaceFirst("^(-?)0+(?=[0-9])", "$1");
    }

    private static Optional<Boolean> flag(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> Optional.of(true);
            case "false" -> Optional.of(false);
            default -> Optional.empty();
        };
    }

    private static Set<String> types(Map<?, ?> property) {
        var types = new HashSet<String>();
        if (property.get("type") instanceof String type) {
            types.add(type);
        }
        forms(property).forEach(form -> types.addAll(types(form)));
        return types;
    }

    private static List<Map<?, ?>> forms(Map<?, ?> property) {
        return property.get("anyOf") instanceof List<?> forms
                ? forms.stream()
                        .<Map<?, ?>>mapMulti((form, each) -> {
                            if (form instanceof Map<?, ?> map) {
                                each.accept(map);
                            }
                        })
                        .toList()
                : List.of();
    }

    @SuppressWarnings("unchecked") // keys of a schema are texts
    private static Optional<Map<String, Object>> objectForm(Map<?, ?> property) {
        Map<?, ?> form = forms(property).stream()
                .filter(each -> "object".equals(each.get("type")))
                .<Map<?, ?>>map(each -> each)
                .findFirst()
                .orElse(property);
        return "object".equals(form.get("type")) ? Optional.of((Map<String, Object>) form) : Optional.empty();
    }

    /** The nearest of the known names, if at most two letters are missing, too many or others. */
    static Optional<String> similar(Set<String> known, String given) {
        if (given.length() > MAX_SLIP_CHARS || given.length() <= MOST_EDITS) {
            return Optional.empty();
        }
        return known.stream()
                .filter(name -> edits(name, given) <= MOST_EDITS)
                .min(Comparator.<String>comparingInt(name -> edits(name, given))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** How many letters are to be put in, taken out or replaced (Levenshtein's distance). */
    private static int edits(String one, String other) {
        int[] before = new int[other.length() + 1];
        for (int column = 0; column <= other.length(); column++) {
            before[column] = column;
        }
        for (int row = 1; row <= one.length(); row++) {
            int[] now = new int[other.length() + 1];
            now[0] = row;
            for (int column = 1; column <= other.length(); column++) {
                int replaced = before[column - 1] + (one.charAt(row - 1) == other.charAt(column - 1) ? 0 : 1);
                now[column] = Math.min(replaced, Math.min(before[column], now[column - 1]) + 1);
            }
            before = now;
        }
        return before[other.length()];
    }
}
