package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A picture that an execution drew.
 *
 * @param mimeType e.g. {@code image/png}
 * @param base64 the picture's bytes in base64 (RFC 4648, padded), as MCP image content wants them
 * @param bytes its size
 * @param full what it was before it was scaled down; null if it was not
 */
public record Image(
        String mimeType, String base64, int bytes, @Nullable Full full) {

    /**
     * A picture in full size, which stays in the sandbox.
     *
     * @param path of its file; null if it could not be kept
     * @param bytes its size
     * @param width in pixels
     * @param height in pixels
     */
    public record Full(@Nullable String path, long bytes, int width, int height) {

        /** Says the size. */
        @Override
        public String toString() {
            return "Full[%d bytes, %d x %d]".formatted(bytes, width, height);
        }
    }

    static Image of(OutputRecord.Shown shown) {
        OutputRecord.Original original = shown.original();
        Full full = original == null
                ? null
                : new Full(original.path(), original.bytes(), original.width(), original.height());
        byte[] picture = shown.content().bytes();
        return new Image(shown.mime(), Base64.getEncoder().encodeToString(picture), picture.length, full);
    }

    /** Says kind and size. */
    @Override
    public String toString() {
        return "Image[" + mimeType + ", " + bytes + " bytes]";
    }
}
