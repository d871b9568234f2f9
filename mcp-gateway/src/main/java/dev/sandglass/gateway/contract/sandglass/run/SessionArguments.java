package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.execution.Session;
import java.util.List;
import java.util.regex.Pattern;

/** The arguments {@code language} and {@code session}, which name a kernel. */
final class SessionArguments {

    private static final String DEFAULT = "default";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,62}");
    private static final int MAX_CHARS = 1000;

    private SessionArguments() {}

    static Schema addTo(Schema input) {
        return input.optional("language", languageSchema("Default python"))
                .optional("session", Schema.ofType("string"));
    }

    static Schema languageSchema(String description) {
        return languageSchema(description, CodeLanguage.WITH_SESSIONS);
    }

    static Schema languageSchema(String description, List<String> words) {
        return Schema.text(description).with("enum", words);
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

    /** A language that has sessions. */
    static String language(Arguments arguments) {
        CodeLanguage language = CodeLanguage.read(arguments);
        if (language == CodeLanguage.BASH) {
            throw new InvalidArgument(
                    "'language' must be 'python' or 'nodejs' here: bash has no sessions and no packages");
        }
        return language.word();
    }
}
