package dev.sandglass.api.link;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * HKDF with SHA-256 (RFC 5869). The platform's own {@code javax.crypto.KDF} came after the release that this module is
 * compiled for; a test holds the two equal.
 */
final class Hkdf {

    private static final String HMAC = "HmacSHA256";
    private static final int HASH_LENGTH = 32;
    private static final int MAX_BLOCKS = 255;

    private Hkdf() {}

    static byte[] derive(byte[] inputKey, byte[] salt, byte[] info, int length) {
        if (length < 1 || length > MAX_BLOCKS * HASH_LENGTH) {
            throw new IllegalArgumentException("HKDF-SHA256 gives 1 to 8160 bytes, not " + length);
        }
        try {
            byte[] usedSalt = salt.length == 0 ? new byte[HASH_LENGTH] : salt;
            return expand(mac(usedSalt).doFinal(inputKey), info, length);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every Java platform has " + HMAC, e);
        }
    }

    private static byte[] expand(byte[] pseudoRandomKey, byte[] info, int length) throws GeneralSecurityException {
        Mac mac = mac(pseudoRandomKey);
        byte[] output = new byte[length];
        byte[] block = new byte[0];
        for (int done = 0, counter = 1; done < length; done += block.length, counter++) {
            mac.update(block);
            mac.update(info);
            mac.update((byte) counter);
            block = mac.doFinal();
            System.arraycopy(block, 0, output, done, Math.min(block.length, length - done));
        }
        Arrays.fill(block, (byte) 0);
        return output;
    }

    private static Mac mac(byte[] key) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(HMAC);
        mac.init(new SecretKeySpec(key, HMAC));
        return mac;
    }
}
