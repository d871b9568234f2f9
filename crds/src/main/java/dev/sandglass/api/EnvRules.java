package dev.sandglass.api;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Which environment variables may be given to code in a sandbox, by the resource or by a single call. Reserved are
 * those that would change the way out of the sandbox, the dynamic linker or the supervisor.
 */
public final class EnvRules {

    /** Most variables. */
    public static final int MAX_ENTRIES = 256;

    /** Most bytes of all names and values together, in UTF-8. */
    public static final int MAX_BYTES = 32 * 1024;

    /** The names a POSIX shell can use. */
    public static final String NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$";

    /** Longest name. */
    public static final int MAX_NAME_LENGTH = 256;

    static final List<String> RESERVED_PREFIXES = List.of("SANDGLASS_", "LD_");

    static final List<String> RESERVED_NAMES = List.of(
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "FTP_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "NODE_USE_ENV_PROXY",
            "NPM_CONFIG_PROXY",
            "NPM_CONFIG_HTTP_PROXY",
            "NPM_CONFIG_HTTPS_PROXY",
            "NPM_CONFIG_NOPROXY",
            "PIP_PROXY",
            "JAVA_TOOL_OPTIONS",
            "GIT_SSH_COMMAND",
            "PYTHONSTARTUP");

    private static final Pattern NAME = Pattern.compile(NAME_PATTERN);

    private EnvRules() {}

    /**
     * Says what is wrong with a set of variables, in a sentence for their author; it never repeats values.
     *
     * @return empty if nothing is wrong
     */
    public static Optional<String> problem(Map<String, String> variables) {
        if (variables.size() > MAX_ENTRIES) {
            return Optional.of(
                    "at most " + MAX_ENTRIES + " environment variables are allowed, not " + variables.size());
        }
        long bytes = 0;
        for (Map.Entry<String, String> variable : variables.entrySet()) {
            Optional<String> problem = nameProblem(variable.getKey());
            if (problem.isPresent()) {
                return problem;
            }
            if (variable.getValue().indexOf('\0') >= 0) {
                return Optional.of("the value of environment variable " + variable.getKey() + " contains a NUL");
            }
            bytes += utf8Length(variable.getKey()) + utf8Length(variable.getValue());
        }
        return bytes > MAX_BYTES
                ? Optional.of(
                        "environment variables may have " + MAX_BYTES + " bytes in all, names included, not " + bytes)
                : Optional.empty();
    }

    private static Optional<String> nameProblem(String name) {
        if (name.length() > MAX_NAME_LENGTH || !NAME.matcher(name).matches()) {
            return Optional.of("'" + shortened(name) + "' is not a name for an environment variable:"
                    + " letters, digits and underscores, not starting with a digit, at most " + MAX_NAME_LENGTH);
        }
        String upper = name.toUpperCase(Locale.ROOT);
        if (RESERVED_NAMES.contains(upper) || RESERVED_PREFIXES.stream().anyMatch(upper::startsWith)) {
            return Optional.of("environment variable " + name + " is reserved");
        }
        return Optional.empty();
    }

    private static String shortened(String name) {
        return name.length() <= 40 ? name : name.substring(0, 40) + "…";
    }

    private static int utf8Length(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
