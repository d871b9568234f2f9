package dev.sandglass.gateway.contract.config;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads code, and the Python that runs it. */
public final class CodeFields {

    /** Most bytes of code, in UTF-8. */
    public static final int MAX_CODE_BYTES = 1024 * 1024;

    /** In UTF-8 no longer than the longest path that a supervisor takes. */
    private static final int MAX_ENV_CHARS = 1024;

    private static final Pattern ENV =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,62}|~|~/\\P{Cntrl}*|(?!~)(?=.*/)\\P{Cntrl}+");

    /** Longest name, URL or path of a package. */
    public static final int MAX_PACKAGE_CHARS = 512;

    /** What a package, a URL or a path never has: characters that do not show, blanks at its ends. */
    private static final Pattern UNREADABLE = Pattern.compile("[\\p{C}\\p{Z}&&[^ ]]|^ | $");

    private static final Pattern OPTION = Pattern.compile("(?:^| )-");

    private CodeFields() {}

    /** The field {@code code}, which must be there. */
    public static String code(Arguments arguments) {
        String code = arguments.requiredText("code", MAX_CODE_BYTES);
        int bytes = code.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_CODE_BYTES) {
            throw new InvalidArgument("'code' must have at most %d bytes in UTF-8, has %d; write it to a file in parts"
                    .formatted(MAX_CODE_BYTES, bytes));
        }
        return code;
    }

    /** The Python environment that a field names (contracts.md P14); empty if it was left out. */
    public static Optional<String> pythonEnv(Arguments arguments, String field) {
        Optional<String> given = arguments.text(field, MAX_ENV_CHARS);
        if (given.isPresent() && !ENV.matcher(given.get()).matches()) {
            throw new InvalidArgument(
                    "'%s' must be a name (1 to 63 letters, digits, '_', '.', '+' or '-'), or a".formatted(field)
                            + " path with a slash in it or '~/' in front, without control characters");
        }
        return given;
    }

    /**
     * Refuses what is no package, URL or path of a file.
     *
     * @param field where it stands, in quotes
     * @param instead what to do instead of an option
     */
    public static void checkPackage(String field, String text, String instead) {
        if (text.isEmpty() || UNREADABLE.matcher(text).find()) {
            throw new InvalidArgument(
                    field + " must be one line of printable characters, without blanks at its ends: a package, a URL or"
                            + " the path of a file in the sandbox");
        }
        if (OPTION.matcher(text).find()) {
            throw new InvalidArgument(
                    field + " must be a package, a URL or a path: options, and whatever else begins with"
                            + " '-', are not taken; " + instead);
        }
    }
}
