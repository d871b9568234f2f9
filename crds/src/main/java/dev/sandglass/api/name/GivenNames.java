package dev.sandglass.api.name;

import java.util.regex.Pattern;

/** The grammar of names that callers give, with the messages for violations. */
final class GivenNames {

    static final int MAX_LENGTH = 63;
    private static final Pattern CHARACTERS = Pattern.compile("[A-Za-z0-9_-]+");

    private GivenNames() {}

    static String check(String kind, String name) {
        if (name.isEmpty()) {
            throw new InvalidNameException(kind + " cannot be empty");
        }
        if (name.codePointCount(0, name.length()) > MAX_LENGTH) {
            throw new InvalidNameException(kind + " cannot exceed " + MAX_LENGTH + " characters");
        }
        if (!CHARACTERS.matcher(name).matches()) {
            throw new InvalidNameException(kind + " can only contain alphanumeric characters, hyphens, or underscores");
        }
        if (name.charAt(0) == '-' || name.charAt(0) == '_') {
            throw new InvalidNameException(kind + " must start with an alphanumeric character");
        }
        return name;
    }
}
