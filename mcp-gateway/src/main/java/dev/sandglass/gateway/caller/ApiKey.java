package dev.sandglass.gateway.caller;

import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/**
 * One accepted API key: its digest and what it allows. The key itself is not known here.
 *
 * @param caller who the bearer of this key is
 * @param sha256 digest of the whole key as it stands after {@code Bearer}
 */
record ApiKey(Caller caller, Digest sha256) {

    static final int MAX_TENANTS = 1000;

    /**
     * Reads what a key file holds.
     *
     * @param name the file's name, the public name of the key
     * @param sha256 64 hexadecimal digits
     * @param tenants at least one
     * @throws IllegalArgumentException if the values are not of that shape; the message holds no digest
     */
    static ApiKey of(String name, String sha256, List<String> tenants) {
        if (tenants.isEmpty() || tenants.size() > MAX_TENANTS) {
            throw new IllegalArgumentException("tenants must be a list of 1 to " + MAX_TENANTS + " names");
        }
        return new ApiKey(new Caller(name, tenants), Digest.parse(sha256));
    }

    /** A SHA-256 digest that is compared in constant time and never printed. */
    static final class Digest {
        private static final int BYTES = 32;
        private final byte[] bytes;

        private Digest(byte[] bytes) {
            this.bytes = bytes;
        }

        static Digest parse(String hex) {
            byte[] bytes;
            try {
                bytes = HexFormat.of().parseHex(hex.strip().toLowerCase(Locale.ROOT));
            } catch (IllegalArgumentException notHex) {
                throw new IllegalArgumentException("sha256 must be 64 hexadecimal digits", notHex);
            }
            if (bytes.length != BYTES) {
                throw new IllegalArgumentException("sha256 must be 64 hexadecimal digits");
            }
            return new Digest(bytes);
        }

        boolean matches(byte[] other) {
            return MessageDigest.isEqual(bytes, other);
        }

        @Override
        public String toString() {
            return "sha256";
        }
    }
}
