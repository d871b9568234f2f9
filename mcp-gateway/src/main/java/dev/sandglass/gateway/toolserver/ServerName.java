package dev.sandglass.gateway.toolserver;

import java.util.regex.Pattern;

/**
 * Names of MCP servers. Code imports them, so that they are identifiers of Python. Words that have a meaning there already
 * are the sandbox's to refuse, which has that Python. Pure.
 */
public final class ServerName {

    /** Most characters. */
    public static final int MAX_CHARS = 64;

    /** What a name must be, as a clause behind the argument's name. */
    public static final String RULE =
            "must be a Python identifier of at most %d letters (A-Z, a-z), digits and '_', a letter first"
                    .formatted(MAX_CHARS);

    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_]{0," + (MAX_CHARS - 1) + "}");

    private ServerName() {}

    /** Whether it is one. */
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** The name by which code knows a server that a resource of that name describes: no identifier has a hyphen. */
    public static String ofResource(String resource) {
        return resource.replace('-', '_');
    }
}
