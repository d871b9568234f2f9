package dev.sandglass.gateway.contract;

import java.util.List;
import java.util.Optional;

/**
 * What a client finds at a contract's path.
 *
 * @param serverName for programs
 * @param serverTitle for people
 * @param instructions for the model: how the tools belong together
 * @param prompts in the order in which clients see them
 * @param tools in the order in which clients see them
 * @param resources empty if nothing can be read by URI
 * @param completions empty if no argument is completed
 * @param structured whether answers hold their data beside the text, and the tools' output schemas are listed. Agents that
 *     find data hand the model that alone, and pictures are lost
 */
public record Offer(
        String serverName,
        String serverTitle,
        String instructions,
        List<Prompt> prompts,
        List<Tool> tools,
        Optional<Resources> resources,
        Optional<Completions> completions,
        boolean structured) {

    /** Keeps its own copies of the lists. */
    public Offer {
        prompts = List.copyOf(prompts);
        tools = List.copyOf(tools);
    }

    /** Prompts and tools alone. */
    public Offer(
            String serverName,
            String serverTitle,
            String instructions,
            List<Prompt> prompts,
            List<Tool> tools,
            boolean structured) {
        this(serverName, serverTitle, instructions, prompts, tools, Optional.empty(), Optional.empty(), structured);
    }

    /** The tool of that name. */
    public Optional<Tool> tool(String name) {
        return tools.stream()
                .filter(tool -> tool.definition().name().equals(name))
                .findFirst();
    }

    /** The prompt of that name. */
    public Optional<Prompt> prompt(String name) {
        return prompts.stream().filter(prompt -> prompt.name().equals(name)).findFirst();
    }
}
