package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.api.ForeignText;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Objects of texts, whole numbers and lists of texts in TOON, the Token-Oriented Object Notation (contracts.md X8): one line
 * for each field, texts without quotes where no reader can mistake them. By the draft 4.0 of its specification; an empty list
 * is written as readers of every earlier version know it. Pure.
 */
final class Toon {

    private static final String DELIMITER = ",";
    private static final String FENCE = "```";
    private static final Pattern PLAIN_KEY = Pattern.compile("[A-Za-z_][A-Za-z0-9_.]*");
    private static final Pattern WORD = Pattern.compile("true|false|null");
    private static final Pattern NUMBER =
            Pattern.compile("[+-]?[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?", Pattern.CASE_INSENSITIVE);
    private static final Pattern SYNTAX = Pattern.compile("[:\"\\\\\\[\\]{}" + DELIMITER + "]|^[-#]");
    private static final Pattern BLANK_AT_AN_END = Pattern.compile("^[\\p{Z}\\s]|[\\p{Z}\\s]$");
    private static final int LAST_OF_FIRST_PLANE = 0xffff;
    private static final HexFormat HEX = HexFormat.of();

    private Toon() {}

    /** The object's fields in their order. */
    static String of(ObjectNode fields) {
        return fields.properties().stream()
                .map(field -> line(key(field.getKey()), field.getValue()))
                .collect(Collectors.joining("\n"));
    }

    private static String line(String key, JsonNode value) {
        if (!value.isArray()) {
            return key + ": " + primitive(value);
        }
        String values = value.valueStream().map(Toon::primitive).collect(Collectors.joining(DELIMITER));
        return "%s[%d]:%s".formatted(key, value.size(), value.isEmpty() ? "" : " " + values);
    }

    private static String primitive(JsonNode value) {
        return value.isString() ? text(value.asString()) : value.toString();
    }

    private static String key(String key) {
        return PLAIN_KEY.matcher(key).matches() ? key : quoted(key);
    }

    /** A text as a value; what a reader could take for something else, or not see, stands in quotes. */
    static String text(String text) {
        boolean plain = !text.isEmpty()
                && !WORD.matcher(text).matches()
                && !NUMBER.matcher(text).matches()
                && !SYNTAX.matcher(text).find()
                && !BLANK_AT_AN_END.matcher(text).find()
                && !text.contains(FENCE)
                && text.codePoints().allMatch(Toon::isShown);
        return plain ? text : quoted(text);
    }

    private static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        boolean isFence = text.contains(FENCE);
        text.codePoints()
                .forEach(letter -> quoted.append(
                        switch (letter) {
                            case '\\' -> "\\\\";
                            case '"' -> "\\\"";
                            case '\n' -> "\\n";
                            case '\r' -> "\\r";
                            case '\t' -> "\\t";
                            // It would end the block in which the text stands.
                            case '`' -> isFence ? escape(letter) : "`";
                            default -> shown(letter);
                        }));
        return quoted.append('"').toString();
    }

    private static boolean isShown(int letter) {
        String itself = Character.toString(letter);
        return ForeignText.json(itself).equals(itself);
    }

    /** The notation has no escapes beyond the first plane, and none for half a character: a mark stands for these. */
    private static String shown(int letter) {
        if (isShown(letter)) {
            return Character.toString(letter);
        }
        boolean hasEscape = letter <= LAST_OF_FIRST_PLANE && Character.getType(letter) != Character.SURROGATE;
        return hasEscape ? escape(letter) : "\ufffd";
    }

    private static String escape(int letter) {
        return "\\u" + HEX.toHexDigits((char) letter);
    }
}
