package dev.sandglass.gateway.port;

import dev.sandglass.api.link.LinkSecret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Links for browsers: permissions for one port of one sandbox that end by themselves. A link is signed for the sandbox's
 * UID, so that it does not pass on to a later sandbox of the same name, and names the caller who asked for it, whose rights
 * are looked at again on every use. Any replica reads what another one made.
 */
final class PortLinks {

    private static final String PURPOSE = "port-links";
    private static final String ALGORITHM = "HmacSHA256";
    private static final int MAX_CALLER_BYTES = 253;

    private final SecretKeySpec key;

    PortLinks(LinkSecret secret) {
        this.key = new SecretKeySpec(secret.keyFor(PURPOSE), ALGORITHM);
    }

    /**
     * What a link says of itself; not to be believed before {@link #signed}.
     *
     * @param text the whole link
     * @param caller who asked for it
     * @param expires its end
     */
    record Claim(String text, String caller, Instant expires) {
        /** Never the link. */
        @Override
        public String toString() {
            return "Claim[" + caller + "]";
        }
    }

    /** A link; empty if the caller's name is too long to fit into a URL. */
    Optional<String> issue(String uid, int port, String caller, Instant expires) {
        byte[] name = caller.getBytes(StandardCharsets.UTF_8);
        if (name.length > MAX_CALLER_BYTES) {
            return Optional.empty();
        }
        String content = Long.toString(expires.getEpochSecond()) + '.' + encoded(name);
        return Optional.of(content + '.' + encoded(mac(uid, port, content)));
    }

    /** What such a text says; empty if it cannot be a link. */
    static Optional<Claim> read(String text) {
        String[] parts = text.split("\\.", -1);
        if (parts.length != 3 || parts[0].length() > 12) {
            return Optional.empty();
        }
        try {
            String caller = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            return Optional.of(new Claim(text, caller, Instant.ofEpochSecond(Long.parseLong(parts[0]))));
        } catch (IllegalArgumentException | DateTimeException notOurs) {
            return Optional.empty();
        }
    }

    /** Whether this installation made that link for that port of that sandbox. */
    boolean signed(Claim claim, String uid, int port) {
        int end = claim.text().lastIndexOf('.');
        byte[] right = encoded(mac(uid, port, claim.text().substring(0, end))).getBytes(StandardCharsets.US_ASCII);
        return MessageDigest.isEqual(right, claim.text().substring(end + 1).getBytes(StandardCharsets.UTF_8));
    }

    private byte[] mac(String uid, int port, String content) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac.doFinal((uid + '|' + port + '|' + content).getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, impossible);
        }
    }

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
