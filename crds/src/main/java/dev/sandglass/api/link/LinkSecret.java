package dev.sandglass.api.link;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The installation's link secret, of which all keys between gateway and sandboxes are made. It lives in a Secret that
 * operator and gateway mount; no sandbox ever sees it.
 */
public final class LinkSecret {

    /** Fewest bytes that are accepted. */
    public static final int MIN_LENGTH = 32;

    private static final int KEY_LENGTH = 32;
    private static final byte[] PURPOSE_SALT = "sandglass-purpose-v1".getBytes(StandardCharsets.US_ASCII);

    private final byte[] bytes;

    /**
     * @param bytes at least {@value #MIN_LENGTH} unpredictable bytes
     */
    public LinkSecret(byte[] bytes) {
        if (bytes.length < MIN_LENGTH) {
            throw new IllegalArgumentException(
                    "The link secret has " + bytes.length + " bytes; at least " + MIN_LENGTH + " are needed");
        }
        this.bytes = bytes.clone();
    }

    /**
     * Reads the secret from a mounted file. One line end at the end of the file is not part of the secret, so that
     * editors and {@code echo} do no harm.
     *
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if it is too short
     */
    public static LinkSecret read(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        int end = content.length;
        if (end > 0 && content[end - 1] == '\n') {
            end--;
            if (end > 0 && content[end - 1] == '\r') {
                end--;
            }
        }
        return new LinkSecret(Arrays.copyOf(content, end));
    }

    /**
     * A key for something else than the links, of {@value #KEY_LENGTH} bytes; it reveals nothing about them or about the key
     * for another purpose.
     *
     * @param purpose a constant of the class that uses the key
     */
    public byte[] keyFor(String purpose) {
        return Hkdf.derive(bytes, PURPOSE_SALT, purpose.getBytes(StandardCharsets.US_ASCII), KEY_LENGTH);
    }

    byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LinkSecret secret && MessageDigest.isEqual(bytes, secret.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "LinkSecret[hidden]";
    }
}
