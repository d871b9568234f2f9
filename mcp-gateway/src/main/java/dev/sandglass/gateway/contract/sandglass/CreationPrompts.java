package dev.sandglass.gateway.contract.sandglass;

import dev.sandglass.gateway.contract.Prompt;
import java.util.List;
import java.util.Map;

/** The prompts of contracts.md M24: each asks for a sandbox of a certain kind. */
final class CreationPrompts {

    private static final String SANDBOX = "sandbox_name";
    private static final String NAMESPACE = "namespace";
    private static final List<Prompt.Argument> ARGUMENTS = List.of(
            new Prompt.Argument(SANDBOX, "Name for the new sandbox", true),
            new Prompt.Argument(NAMESPACE, "Namespace for the new sandbox", true));

    private CreationPrompts() {}

    static List<Prompt> all() {
        return List.of(
                new Prompt(
                        "create_python_sandbox",
                        "Create a sandbox for Python",
                        ARGUMENTS,
                        values -> text("Python", "python", values)),
                new Prompt(
                        "create_node_sandbox",
                        "Create a sandbox for Node.js",
                        ARGUMENTS,
                        values -> text("Node.js", "node", values)));
    }

    private static String text(String language, String image, Map<String, String> values) {
        return ("Create a %s sandbox named '%s' in namespace '%s' with the tool sandbox_start, using the image"
                        + " 'microsandbox/%s', 512 MiB of memory and 1 CPU, and work in its folder 'workspace'. Always"
                        + " stop the sandbox with sandbox_stop when done.")
                .formatted(language, values.get(SANDBOX), values.get(NAMESPACE), image);
    }
}
