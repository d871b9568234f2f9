package dev.sandglass.api.watch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Of a list in JSON the part that can be read.
 *
 * @param list the same list with the items that can be read
 * @param leftOut the other ones
 */
record ReadableItems(ObjectNode list, List<JsonNode> leftOut) {

    private static final String ITEMS = "items";

    /** The list itself if it is none, or if all of its items can be read. */
    static ReadableItems of(ObjectNode list, ObjectReader reader) {
        ArrayNode readable = list.arrayNode();
        List<JsonNode> leftOut = new ArrayList<>();
        for (JsonNode item : list.path(ITEMS)) {
            if (isReadable(alone(list, item), reader)) {
                readable.add(item);
            } else {
                leftOut.add(item);
            }
        }
        return new ReadableItems(leftOut.isEmpty() ? list : with(list, readable), List.copyOf(leftOut));
    }

    private static ObjectNode alone(ObjectNode list, JsonNode item) {
        return with(list, list.arrayNode().add(item));
    }

    private static ObjectNode with(ObjectNode list, ArrayNode items) {
        ObjectNode same = list.objectNode().setAll(list);
        same.set(ITEMS, items);
        return same;
    }

    private static boolean isReadable(ObjectNode list, ObjectReader reader) {
        try {
            reader.readValue(list);
            return true;
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }
}
