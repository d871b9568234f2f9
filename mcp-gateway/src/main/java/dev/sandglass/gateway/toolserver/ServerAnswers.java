package dev.sandglass.gateway.toolserver;

import dev.sandglass.api.ForeignText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * What a sandbox tells of its MCP servers, read with a bound on everything: the server's words pass through it unchanged,
 * and it may be hostile itself. Never throws: what cannot be is left out and counted. Pure.
 */
public final class ServerAnswers {

    /** Most tools that are read of one server; a supervisor takes no more. */
    public static final int MOST_TOOLS = 512;

    /** Most servers that are read of one sandbox; a supervisor takes 16. */
    public static final int MOST_SERVERS = 64;

    /** Most notes on one registration. */
    public static final int MOST_NOTES = 16;

    /** Most characters of what a tool is said to do, before the mark of a cut. */
    public static final int MAX_DESCRIPTION = 200;

    /** Most characters of a name that the server chose, before the mark of a cut. */
    public static final int MAX_NAME = 256;

    /** Most characters of a note, before the mark of a cut. */
    public static final int MAX_NOTE = 500;

    private static final Pattern MODULE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");

    private ServerAnswers() {}

    /**
     * The answer to a registration.
     *
     * @param name that was registered: what the answer says of it does not count
     */
    public static RegisteredServer registered(String name, JsonNode json) {
        Tools tools = Tools.read(json.path("tools"));
        return new RegisteredServer(name, info(json), tools.known(), tools.leftOut(), notes(json.path("notes")));
    }

    /** What the answer to a registration says of the server itself. */
    public static RegisteredServer.Info info(JsonNode json) {
        JsonNode info = json.path("server_info");
        return new RegisteredServer.Info(
                line(info.path("name"), MAX_NAME),
                line(info.path("version"), MAX_NAME),
                line(info.path("protocol_version"), MAX_NAME));
    }

    /** The answer to the question for all servers, in its order; one that stands twice counts once. */
    public static List<KnownServer> listed(JsonNode json) {
        var servers = new ArrayList<KnownServer>();
        Set<String> names = new HashSet<>();
        for (JsonNode entry : json.path("servers")) {
            if (servers.size() == MOST_SERVERS) {
                break;
            }
            String name = entry.path("name").asString("");
            if (ServerName.isName(name) && names.add(name)) {
                servers.add(known(name, entry));
            }
        }
        return List.copyOf(servers);
    }

    private static KnownServer known(String name, JsonNode entry) {
        Tools tools = Tools.read(entry.path("tools"));
        JsonNode origin = entry.path(entry.path("url").isString() ? "url" : "command");
        return new KnownServer(
                name,
                KnownServer.State.of(entry.path("state").asString("")),
                line(origin, MAX_NAME),
                tools.known(),
                tools.leftOut());
    }

    private static List<String> notes(JsonNode json) {
        var notes = new ArrayList<String>();
        for (JsonNode entry : json) {
            String note = line(entry, MAX_NOTE);
            if (notes.size() < MOST_NOTES && !note.isEmpty()) {
                notes.add(note);
            }
        }
        return notes;
    }

    private static String line(JsonNode text, int most) {
        return ForeignText.line(text.asString(""), most);
    }

    private record Tools(List<ServerTool> known, int leftOut) {

        /** Only what code can import, and no more than one of a name. */
        static Tools read(JsonNode json) {
            var known = new ArrayList<ServerTool>();
            Set<String> modules = new HashSet<>();
            for (JsonNode entry : json) {
                String module = entry.path("module").asString("");
                if (known.size() < MOST_TOOLS && MODULE.matcher(module).matches() && modules.add(module)) {
                    known.add(new ServerTool(
                            line(entry.path("name"), MAX_NAME),
                            module,
                            line(entry.path("description"), MAX_DESCRIPTION)));
                }
            }
            return new Tools(known, json.isArray() ? json.size() - known.size() : 0);
        }
    }
}
