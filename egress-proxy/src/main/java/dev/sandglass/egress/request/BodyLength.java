package dev.sandglass.egress.request;

import java.util.List;
import java.util.Optional;

/** How a server will find the end of a request's body; there must be but one way to read it. */
public sealed interface BodyLength {

    /** Most bytes that a body may announce: 1 TiB. */
    long MAX_BYTES = 1L << 40;

    /** That many bytes. */
    record Exactly(long bytes) implements BodyLength {}

    /** In chunks, each with its length before it. */
    record Chunked() implements BodyLength {}

    /**
     * Reads it from a head.
     *
     * @throws Refusal if two programs could read it differently
     */
    static BodyLength of(RequestHead head) throws Refusal {
        Optional<String> length = head.single("Content-Length");
        List<Field> encodings = head.fields().stream()
                .filter(field -> field.is("Transfer-Encoding"))
                .toList();
        if (encodings.isEmpty()) {
            return new Exactly(length.isPresent() ? number(length.get()) : 0);
        }
        if (length.isPresent()) {
            throw new Refusal("Content-Length and Transfer-Encoding must not stand together");
        }
        if (encodings.size() > 1 || !encodings.getFirst().value().equalsIgnoreCase("chunked") || head.minor() == 0) {
            throw new Refusal("Transfer-Encoding must be chunked, stand but once, and only in HTTP/1.1");
        }
        return new Chunked();
    }

    private static long number(String text) throws Refusal {
        boolean digits = !text.isEmpty() && text.chars().allMatch(letter -> letter >= '0' && letter <= '9');
        if (!digits || text.length() > 13 || Long.parseLong(text) > MAX_BYTES) {
            throw new Refusal("Content-Length must be a decimal number, at most " + MAX_BYTES);
        }
        return Long.parseLong(text);
    }
}
