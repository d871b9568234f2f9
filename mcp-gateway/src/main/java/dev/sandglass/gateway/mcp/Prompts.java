package dev.sandglass.gateway.mcp;

import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The prompts of contracts.md M24: each asks for a sandbox of a certain kind. */
final class Prompts {

    private static final int MAX_CHARS = 1000;
    private static final List<Argument> ARGUMENTS = List.of(
            new Argument("sandbox_name", "Name for the new sandbox", true),
            new Argument("namespace", "Namespace for the new sandbox", true));

    private static final Prompt PYTHON = new Prompt("create_python_sandbox", "Create a sandbox for Python", ARGUMENTS);
    private static final Prompt NODE = new Prompt("create_node_sandbox", "Create a sandbox for Node.js", ARGUMENTS);
    private static final List<Prompt> ALL = List.of(PYTHON, NODE);

    private Prompts() {}

    /** A prompt as it is listed. */
    record Prompt(String name, String description, List<Argument> arguments) {}

    /** What a prompt wants to know. */
    record Argument(String name, String description, boolean required) {}

    static List<Prompt> all() {
        return ALL;
    }

    static Optional<Prompt> named(String name) {
        return ALL.stream().filter(prompt -> prompt.name().equals(name)).findFirst();
    }

    /** The one message of a prompt. */
    static String text(Prompt prompt, ObjectNode arguments) {
        String sandbox = required(arguments, "sandbox_name");
        String namespace = required(arguments, "namespace");
        boolean python = prompt.equals(PYTHON);
        return ("Create a %s sandbox named '%s' in namespace '%s' with the tool sandbox_start, using the image"
                        + " 'microsandbox/%s', 512 MiB of memory and 1 CPU, and work in its folder 'workspace'. Always"
                        + " stop the sandbox with sandbox_stop when done.")
                .formatted(python ? "Python" : "Node.js", sandbox, namespace, python ? "python" : "node");
    }

    private static String required(ObjectNode arguments, String name) {
        JsonNode value = arguments.path(name);
        if (!value.isString() || value.asString().isBlank()) {
            throw McpError.invalidParams("Missing required '%s' parameter".formatted(name));
        }
        if (value.asString().length() > MAX_CHARS) {
            throw McpError.invalidParams("'%s' must have at most %d characters".formatted(name, MAX_CHARS));
        }
        return value.asString();
    }
}
