package dev.sandglass.operator.install;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * An API key of the gateway: {@code sgk_} and 256 random bits. The installation keeps only its SHA-256, which is enough
 * for a value that cannot be guessed; a slow password hash would only slow down every call.
 *
 * @param token the key as a caller sends it
 */
record ApiKey(String token) {
    private static final int RANDOM_BYTES = 32;

    static ApiKey random(SecureRandom random) {
        byte[] bytes = new byte[RANDOM_BYTES];
        random.nextBytes(bytes);
        return new ApiKey("sgk_" + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
    }

    /** The JSON that the gateway reads: the key's hash and the tenants it may use. */
    String grant(List<String> tenants) {
        return Serialization.asJson(new Grant(sha256(), tenants));
    }

    record Grant(String sha256, List<String> tenants) {}

    private String sha256() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every JDK has SHA-256", impossible);
        }
    }

    /** Keys do not go into logs. */
    @Override
    public String toString() {
        return "ApiKey[sgk_…]";
    }
}
