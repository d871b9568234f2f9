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
}
