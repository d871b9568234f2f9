package dev.sandglass.gateway.link.frame;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Takes half characters out of JSON, and cuts its texts without making new ones: code can name and say things with
 * unpaired surrogates, and clients would refuse a whole answer for one. A question mark takes their place.
 */
final class WholeTexts {

    private WholeTexts() {}

    /** The same object without half characters in its texts; {@code json} is the text that it was read from. */
    static ObjectNode of(ObjectNode object, byte[] json) {
        if (mayHoldHalves(json)) {
            mend(object);
        }
        return object;
    }

    /** They are written as an escape that begins with a d, or as bytes that begin with 0xED; UTF-16 has zeros. */
    private static boolean mayHoldHalves(byte[] json) {
        for (int i = 0; i + 1 < json.length; i++) {
            boolean escape = json[i] == 'u' && (json[i + 1] | 0x20) == 'd';
            if (escape || json[i] == (byte) 0xED || json[i] == 0) {
                return true;
            }
        }
        return false;
    }

    private static void mend(JsonNode node) {
        switch (node) {
            case ObjectNode object -> {
                for (Map.Entry<String, JsonNode> entry : object.properties()) {
                    entry.setValue(mended(entry.getValue()));
                }
            }
            case ArrayNode array -> {
                for (int i = 0; i < array.size(); i++) {
                    array.set(i, mended(array.get(i)));
                }
            }
            default -> {
                // Numbers and the like hold no text.
            }
        }
    }

    private static JsonNode mended(JsonNode node) {
        mend(node);
        return node instanceof StringNode text ? StringNode.valueOf(whole(text.asString())) : node;
    }

    /** The beginning of a text, at most so many characters and no half of one. */
    static String beginning(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }

    private static String whole(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
