package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.caller.Caller;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Ids of sessions that are names of sandboxes: 80 random bits and a signature of 160 bits over them, the endpoint and the
 * caller. Any replica tells its own installation's ids from others, and an id is worth nothing to another caller.
 */
final class SessionIds {

    private static final String PURPOSE = "mcp-sessions";
    private static final String ALGORITHM = "HmacSHA256";
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
    private static final int RANDOM_BYTES = 10;
    private static final int RANDOM_CHARS = RANDOM_BYTES * 8 / 5;
    private static final int SIGNATURE_BYTES = 20;
    private static final int SIGNATURE_CHARS = SIGNATURE_BYTES * 8 / 5;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SecretKeySpec key;
    private final String endpoint;
    private final Pattern grammar;

    /**
     * Those of an endpoint.
     *
     * @param endpoint its path, with which its sandboxes' names begin
     */
    SessionIds(LinkSecret secret, String endpoint) {
        this.key = new SecretKeySpec(secret.keyFor(PURPOSE), ALGORITHM);
        this.endpoint = endpoint;
        this.grammar = Pattern.compile(Pattern.quote(endpoint) + "-[a-z2-7]{" + (RANDOM_CHARS + SIGNATURE_CHARS) + "}");
    }

    /** A new one for that caller. */
    String issue(Caller caller) {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        String random = encoded(bytes);
        return endpoint + "-" + random + signature(random, caller);
    }

    /** Whether that text was issued here to that caller. */
    boolean isOf(Caller caller, String text) {
        if (!grammar.matcher(text).matches()) {
            return false;
        }
        int begin = endpoint.length() + 1;
        String random = text.substring(begin, begin + RANDOM_CHARS);
        byte[] right = signature(random, caller).getBytes(StandardCharsets.US_ASCII);
        return MessageDigest.isEqual(right, text.substring(begin + RANDOM_CHARS).getBytes(StandardCharsets.US_ASCII));
    }

    private String signature(String random, Caller caller) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            // Of the three only the caller's name may hold anything, so it stands last.
            byte[] whole =
                    mac.doFinal((endpoint + '|' + random + '|' + caller.name()).getBytes(StandardCharsets.UTF_8));
            return encoded(Arrays.copyOf(whole, SIGNATURE_BYTES));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, impossible);
        }
    }

    /** Base32 of whole groups of five bytes, in the letters of RFC 4648 in lower case. */
    private static String encoded(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length * 8 / 5);
        long bits = 0;
        int held = 0;
        for (byte each : bytes) {
            bits = (bits << 8) | (each & 0xff);
            held += 8;
            while (held >= 5) {
                held -= 5;
                text.append(ALPHABET.charAt((int) ((bits >> held) & 31)));
            }
        }
        return text.toString();
    }
}
