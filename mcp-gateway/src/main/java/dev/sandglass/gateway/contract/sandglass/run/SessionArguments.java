package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.execution.Session;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The arguments {@code language} and {@code session}, which name a kernel. */
final class SessionArguments {

    private static final String PYTHON = "python";
    private static final String NODE = "nodejs";
    private static final Map<String, String> LANGUAGES =
            Map.of(PYTHON, PYTHON, NODE, NODE, "node", NODE, "javascript", NODE);
    private static final String DEFAULT = "default";
    private static final String GRAMMAR = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,62}");
    private static final int MAX_CHARS = 1000;

    private SessionArguments() {}

    static Schema addTo(Schema input) {
        return input.optional(
                        "language",
                        languageSchema("Language of the code, default python; each has sessions of its own"))
                .optional(
                        "session",
                        Schema.text("Name of a set of variables of its own, default 'default'; made on first use")
                                .maxLength(63)
                                .with("pattern", GRAMMAR));
    }

    static Schema languageSchema(String description) {
        return Schema.text(description).with("enum", List.of(PYTHON, NODE));
    }

    static Session.Name read(Arguments arguments) {
        String session = arguments
                .text("session", MAX_CHARS)
                .filter(name -> !name.isEmpty())
                .orElse(DEFAULT);
        if (!NAME.matcher(session).matches()) {
            throw new InvalidArgument("'session' must be 1 to 63 letters, digits, hyphens or underscores, the first a"
                    + " letter or digit");
        }
        return new Session.Name(language(arguments), session);
    }

    static String language(Arguments arguments) {
        String given = arguments.text("language", 100).orElse(PYTHON);
        String language = LANGUAGES.get(given);
        if (language == null) {
            throw new InvalidArgument("Unsupported language: %s. Use 'python' or 'nodejs'.".formatted(given));
        }
        return language;
    }
}
