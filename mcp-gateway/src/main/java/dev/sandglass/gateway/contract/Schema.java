package dev.sandglass.gateway.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes the JSON Schemas (2020-12) of the tools: only the keywords that we use. */
public final class Schema {

    private final Map<String, Object> keywords = new LinkedHashMap<>();

    private Schema() {}

    private Schema(String type) {
        keywords.put("type", type);
    }

    public static Schema object() {
        return new Schema("object");
    }

    /** A value of which its place says all. */
    public static Schema ofType(String type) {
        return new Schema(type);
    }

    public static Schema text(String description) {
        return new Schema("string").with("description", description);
    }

    public static Schema integer(String description) {
        return new Schema("integer").with("description", description);
    }

    public static Schema number(String description) {
        return new Schema("number").with("description", description);
    }

    public static Schema seconds(String description, Duration least, Duration most) {
        return number(description).with("minimum", inSeconds(least)).with("maximum", inSeconds(most));
    }

    private static Number inSeconds(Duration duration) {
        if (duration.toMillisPart() == 0) {
            return duration.toSeconds();
        }
        return duration.toMillis() / 1000.0;
    }

    public static Schema flag(String description) {
        return new Schema("boolean").with("description", description);
    }

    public static Schema list(String description, Schema items) {
        return new Schema("array").with("description", description).with("items", items.keywords);
    }

    /** A value of one of several types, e.g. a quantity as number or as text. */
    public static Schema either(String description, String... types) {
        return anyOf(description, Arrays.stream(types).map(Schema::new).toArray(Schema[]::new));
    }

    /** A value of one of several forms; a list of types would say less, and some clients refuse the whole tool for it. */
    public static Schema anyOf(String description, Schema... forms) {
        return new Schema()
                .with("description", description)
                .with("anyOf", Arrays.stream(forms).map(Schema::keywords).toList());
    }

    /** The same, or null. */
    public Schema orNull() {
        Object type = keywords.get("type");
        keywords.put("type", List.of(String.valueOf(type), "null"));
        return this;
    }

    public Schema with(String keyword, Object value) {
        keywords.put(keyword, value);
        return this;
    }

    public Schema optional(String name, Schema property) {
        properties().put(name, property.keywords);
        return this;
    }

    public Schema required(String name, Schema property) {
        optional(name, property);
        requiredNames().add(name);
        return this;
    }

    public Map<String, Object> keywords() {
        return keywords;
    }

    @SuppressWarnings("unchecked") // only this class puts it there
    private Map<String, Object> properties() {
        return (Map<String, Object>) keywords.computeIfAbsent("properties", absent -> new LinkedHashMap<>());
    }

    @SuppressWarnings("unchecked") // only this class puts it there
    private List<String> requiredNames() {
        return (List<String>) keywords.computeIfAbsent("required", absent -> new ArrayList<>());
    }
}
