package dev.sandglass.gateway.contract.config;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.ServerName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads how an MCP server is registered; errors name the fields as the caller did. */
public final class ServerFields {

    private static final int MAX_NAME_CHARS = 1000;
    private static final int MAX_COMMAND_CHARS = 4096;
    private static final int MAX_ARGS = 256;
    private static final int MAX_ARG_CHARS = 32 * 1024;
    private static final int MAX_URL_CHARS = 8 * 1024;
    private static final int MAX_HEADERS = 64;
    private static final int MAX_HEADER_CHARS = 16 * 1024;
    private static final int MAX_TRANSPORT_CHARS = 64;
    private static final int SHOWN_CHARS = 60;

    private static final List<String> OF_COMMAND = List.of("args", "env", "cwd");
    private static final List<String> OF_URL = List.of("headers", "transport");

    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\\}");

    private ServerFields() {}

    /** The name of a server. */
    public static String name(Arguments arguments, String field) {
        String name = arguments.requiredText(field, MAX_NAME_CHARS);
        if (!ServerName.isName(name)) {
            throw new InvalidArgument("'%s' %s".formatted(arguments.name(field), ServerName.RULE));
        }
        return name;
    }

    /** A registration: of a program if the fields have {@code command}, of an address if they have {@code url}. */
    public static Registration registration(String name, Arguments fields, Duration timeout) {
        boolean isCommand = fields.asks("command");
        if (isCommand == fields.asks("url")) {
            throw new InvalidArgument(
                    "Give either '%s', for a server to start in the sandbox, or '%s', for one to connect to"
                            .formatted(fields.name("command"), fields.name("url")));
        }
        for (String other : isCommand ? OF_URL : OF_COMMAND) {
            if (fields.asks(other)) {
                throw new InvalidArgument("'%s' belongs to '%s'; leave it out"
                        .formatted(fields.name(other), fields.name(isCommand ? "url" : "command")));
            }
        }
        return isCommand ? command(name, fields, timeout) : url(name, fields, timeout);
    }

    private static Registration command(String name, Arguments fields, Duration timeout) {
        String command = plain(fields, "command", fields.requiredText("command", MAX_COMMAND_CHARS));
        List<String> args = fields.texts("args", MAX_ARGS, MAX_ARG_CHARS).orElse(List.of());
        checkOneProgram(fields, command, args);
        for (int index = 0; index < args.size(); index++) {
            plain(fields, "args[%d]".formatted(index), args.get(index));
        }
        Map<String, String> env = fields.variables("env").orElse(Map.of());
        plain(fields, "env", env);
        String cwd = plain(fields, "cwd", fields.text("cwd", MAX_COMMAND_CHARS).orElse(""));
        return new Registration.Command(name, command, args, env, cwd, timeout);
    }

    /** Models write whole command lines, of which no shell makes anything here. */
    private static void checkOneProgram(Arguments fields, String command, List<String> args) {
        if (args.isEmpty() && !command.startsWith("/") && command.strip().contains(" ")) {
            String program = command.strip().split(" ", 2)[0];
            throw new InvalidArgument("'%s' is the program alone, such as '%s'; the rest of the line goes into '%s'"
                    .formatted(fields.name("command"), shown(program), fields.name("args")));
        }
    }

    private static Registration url(String name, Arguments fields, Duration timeout) {
        String url = plain(fields, "url", fields.requiredText("url", MAX_URL_CHARS));
        Map<String, String> headers =
                fields.pairs("headers", MAX_HEADERS, MAX_HEADER_CHARS).orElse(Map.of());
        plain(fields, "headers", headers);
        Registration.Transport transport = fields.text("transport", MAX_TRANSPORT_CHARS)
                .map(word -> Registration.Transport.of(word)
                        .orElseThrow(() -> new InvalidArgument(
                                "'%s' must be 'streamable_http' or 'sse'".formatted(fields.name("transport")))))
                .orElse(Registration.Transport.STREAMABLE_HTTP);
        return new Registration.Url(name, url, headers, transport, timeout);
    }

    private static void plain(Arguments fields, String field, Map<String, String> texts) {
        texts.forEach((name, text) -> {
            plain(fields, field, name);
            plain(fields, field + "." + shown(name), text);
        });
    }

    /** Placeholders belong to files of a user's machine, whose variables are not known here. */
    private static String plain(Arguments fields, String field, String text) {
        Matcher placeholder = PLACEHOLDER.matcher(text);
        if (placeholder.find()) {
            throw new InvalidArgument(
                    ("'%s' has %s, which is not replaced here: variables of your machine are not known to this endpoint."
                                    + " Write the value itself, or a shell's own variable without braces")
                            .formatted(fields.name(field), shown(placeholder.group())));
        }
        return text;
    }

    private static String shown(String text) {
        return text.length() <= SHOWN_CHARS ? text : text.substring(0, SHOWN_CHARS) + "…";
    }

    /** One word for audit and metrics. */
    public static String outcome(ServerRefused problem) {
        return switch (problem.why()) {
            case ARGUMENT, NO_SERVER -> "refused";
            case START_FAILED -> "start_failed";
            case START_TIMEOUT -> "start_timeout";
            case TOO_MANY -> "too_many";
            case UNAVAILABLE -> "unavailable";
            case TOO_OLD -> "too_old";
        };
    }
}
