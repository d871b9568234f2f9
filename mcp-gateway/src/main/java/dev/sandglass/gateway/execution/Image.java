package dev.sandglass.gateway.execution;

/**
 * A picture that an execution drew.
 *
 * @param mimeType e.g. {@code image/png}
 * @param base64 the picture's bytes in base64 (RFC 4648, padded), as MCP image content wants them
 */
public record Image(String mimeType, String base64) {

    /** Says kind and size. */
    @Override
    public String toString() {
        return "Image[" + mimeType + ", " + base64.length() + " characters]";
    }
}
