package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.InvalidArgument;
import java.util.Optional;

/**
 * A path that a person is typing for the template's {@code {+path}}. As RFC 6570 has it, an expansion leaves {@code ?},
 * {@code #} and what is encoded already as they are, and encodes other characters: so a value here has those encoded. Pure.
 *
 * @param typed all of it
 * @param begin the part up to the last slash, with it
 * @param folder the folder that this part names, decoded; empty for the workspace
 */
record TypedPath(String typed, String begin, String folder) {

    /** Empty if nothing in a workspace can have such a path. */
    static Optional<TypedPath> of(String typed) {
        String begin = typed.substring(0, typed.lastIndexOf('/') + 1);
        if (typed.length() > SandboxUri.MAX_CHARS) {
            return Optional.empty();
        }
        if (begin.isEmpty()) {
            return Optional.of(new TypedPath(typed, begin, ""));
        }
        try {
            String folder = PercentEncoding.decoded(PercentEncoding.expanded(begin.substring(0, begin.length() - 1)));
            SandboxUri.check(folder);
            return Optional.of(new TypedPath(typed, begin, folder));
        } catch (InvalidArgument none) {
            return Optional.empty();
        }
    }

    /** The folder as file actions take it, for which a leading {@code ~} is the workspace. */
    String folderPath() {
        return SandboxUri.literal(folder);
    }

    /** The value that stands for an entry of the folder; empty if it does not go on what was typed. */
    Optional<String> completed(String name) {
        return Optional.of(begin + encoded(name)).filter(value -> value.startsWith(typed));
    }

    /** As it is where that can be read and is expanded to the same name. */
    private static String encoded(String name) {
        if (!ForeignText.name(name).equals(name)) {
            return PercentEncoding.encoded(name);
        }
        StringBuilder encoded = new StringBuilder(name.length());
        for (int at = 0; at < name.length(); at++) {
            char letter = name.charAt(at);
            switch (letter) {
                case '?' -> encoded.append("%3F");
                case '#' -> encoded.append("%23");
                case '%' -> encoded.append(PercentEncoding.hasDigits(name, at + 1) ? "%25" : "%");
                default -> encoded.append(letter);
            }
        }
        return encoded.toString();
    }
}
