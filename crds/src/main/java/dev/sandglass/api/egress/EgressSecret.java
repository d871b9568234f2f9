package dev.sandglass.api.egress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The installation's egress secret, of which the credentials are made that sandboxes present to the egress proxy, and the
 * token with which the gateway hears of denials. It has nothing to do with the link secret: what user code can read in its
 * proxy variables must not lead to the link.
 */
public final class EgressSecret {

    /** Fewest bytes that are accepted. */
    public static final int MIN_LENGTH = 32;

    private static final String HMAC = "HmacSHA256";
    private static final String CREDENTIAL = "sandglass-egress-credential-v1\0";
    private static final String DENIALS = "sandglass-egress-denials-v1\0";
    private static final String DIGEST = "sandglass-egress-digest-v1\0";

    private final byte[] bytes;

    /**
     * @param bytes at least {@value #MIN_LENGTH} unpredictable bytes
     */
    public EgressSecret(byte[] bytes) {
        if (bytes.length < MIN_LENGTH) {
            throw new IllegalArgumentException(
                    "The egress secret has " + bytes.length + " bytes; at least " + MIN_LENGTH + " are needed");
        }
        this.bytes = bytes.clone();
    }

    /**
     * Reads the secret from a mounted file, without a line end at its end.
     *
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if it is too short
     */
    public static EgressSecret read(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        int end = content.length;
        while (end > 0 && (content[end - 1] == '\n' || content[end - 1] == '\r') && content.length - end < 2) {
            end--;
        }
        return new EgressSecret(Arrays.copyOf(content, end));
    }

    /**
     * The password of a pod: letters, digits, hyphens and underscores, so that it stands in a URL as it is.
     *
     * @param id that of the {@link dev.sandglass.api.PodName}
     */
    public String passwordOf(String id) {
        return derived(CREDENTIAL + id);
    }

    /** The token with which a gateway reads denials from the egress proxy; no sandbox can derive it from its password. */
    public String denialsToken() {
        return derived(DENIALS);
    }

    /** Differs between two secrets, and reveals nothing of them or of what else derives from them. */
    public String digest() {
        return derived(DIGEST);
    }

    private String derived(String purpose) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(bytes, HMAC));
            byte[] digest = mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every Java platform has " + HMAC, e);
        }
    }

    /**
     * Whether that is the password of the pod; takes equally long for every wrong one.
     *
     * @param id that of the {@link dev.sandglass.api.PodName}
     */
    public boolean isPasswordOf(String id, String password) {
        return isEqual(passwordOf(id), password);
    }

    /** Whether that is the token for denials; takes equally long for every wrong one. */
    public boolean isDenialsToken(String token) {
        return isEqual(denialsToken(), token);
    }

    private static boolean isEqual(String ours, String theirs) {
        return MessageDigest.isEqual(ours.getBytes(StandardCharsets.UTF_8), theirs.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "EgressSecret[hidden]";
    }
}
