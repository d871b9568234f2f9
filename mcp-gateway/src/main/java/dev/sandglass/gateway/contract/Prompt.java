package dev.sandglass.gateway.contract;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A message that a user can have written by the server.
 *
 * @param name unique in its contract
 * @param description for people
 * @param arguments what it wants to know
 * @param message from the values of its arguments to its text
 */
public record Prompt(
        String name, String description, List<Argument> arguments, Function<Map<String, String>, String> message) {

    private static final int MAX_CHARS = 1000;

    /** Keeps its own copy of the list. */
    public Prompt {
        arguments = List.copyOf(arguments);
    }

    /** What a prompt wants to know, in at most 1,000 characters. */
    public record Argument(String name, String description, boolean required) {}

    /**
     * The message for those arguments.
     *
     * @throws InvalidArgument if a required one is missing, or one is too long
     */
    public String text(ObjectNode given) {
        var values = new LinkedHashMap<String, String>();
        for (Argument argument : arguments) {
            JsonNode value = given.path(argument.name());
            boolean missing = !value.isString() || value.asString().isBlank();
            if (missing && argument.required()) {
                throw new InvalidArgument("Missing required '%s' parameter".formatted(argument.name()));
            }
            if (!missing) {
                values.put(argument.name(), bounded(argument, value.asString()));
            }
        }
        return message.apply(values);
    }

    private static String bounded(Argument argument, String value) {
        if (value.length() > MAX_CHARS) {
            throw new InvalidArgument("'%s' must have at most %d characters".formatted(argument.name(), MAX_CHARS));
        }
        return value;
    }
}
