package dev.sandglass.gateway.contract.sandglass.file;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** The arguments that say which file, and how its content is written down. */
final class FileArguments {

    static final String TEXT = "text";
    static final String BASE64 = "base64";

    /** As in the system itself; what counts are bytes, which the supervisor checks. */
    private static final int MAX_PATH_CHARS = 4096;

    private static final List<String> ENCODINGS = List.of(TEXT, BASE64);

    private FileArguments() {}

    static Schema path(String description) {
        return Schema.text(description + ", in /workspace or a mounted volume");
    }

    static Schema encoding(String description) {
        return Schema.text(description).with("enum", ENCODINGS);
    }

    static String path(Arguments arguments, String field) {
        String path = arguments.requiredText(field, MAX_PATH_CHARS);
        if (path.isEmpty()) {
            throw new InvalidArgument("'%s' must not be empty".formatted(field));
        }
        return path;
    }

    static String folder(Arguments arguments) {
        return arguments.text("path", MAX_PATH_CHARS).orElse("");
    }

    static Optional<String> encoding(Arguments arguments) {
        Optional<String> encoding = arguments.text("encoding", MAX_PATH_CHARS);
        encoding.filter(word -> !ENCODINGS.contains(word)).ifPresent(word -> {
            throw new InvalidArgument("'encoding' must be 'text' or 'base64'");
        });
        return encoding;
    }

    /** The bytes that a content stands for. */
    static byte[] bytes(String content, String encoding) {
        if (encoding.equals(BASE64)) {
            try {
                return Base64.getDecoder().decode(withoutLineBreaks(content));
            } catch (IllegalArgumentException e) {
                throw new InvalidArgument("'content' is not base64 (RFC 4648); for plain text leave out 'encoding'");
            }
        }
        return content.getBytes(StandardCharsets.UTF_8);
    }

    private static String withoutLineBreaks(String base64) {
        // To look for a character takes a fraction of what a replacement takes that finds nothing.
        return base64.indexOf('\n') < 0 && base64.indexOf('\r') < 0
                ? base64
                : base64.replace("\n", "").replace("\r", "");
    }
}
