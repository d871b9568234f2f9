package dev.sandglass.gateway.toolserver;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * A tool of an MCP server that an execution called. It is told in our own words, so that a name that could be more than a
 * name is left out.
 *
 * @param server as code knows it
 * @param tool as the server calls it; {@value #UNTOLD} for a name that is none by the protocol
 * @param calls how many of its calls the server answered
 */
public record CalledTool(String server, String tool, long calls) {

    /** Most tools of one execution that are told apart. */
    public static final int MOST = 64;

    /** Stands for a name that a server should not have given. */
    public static final String UNTOLD = "?";

    /** What MCP 2025-11-25 recommends, shorter: a sentence does not fit. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    /** What a supervisor says of an execution, in its order; whatever is odd is left out. */
    public static List<CalledTool> parse(JsonNode json) {
        var tools = new ArrayList<CalledTool>();
        for (JsonNode entry : json) {
            String server = entry.path("server").asString("");
            String tool = entry.path("tool").asString("");
            long calls = entry.path("calls").asLong(0);
            if (tools.size() < MOST && ServerName.isName(server) && calls > 0) {
                tools.add(new CalledTool(server, NAME.matcher(tool).matches() ? tool : UNTOLD, calls));
            }
        }
        return List.copyOf(tools);
    }
}
