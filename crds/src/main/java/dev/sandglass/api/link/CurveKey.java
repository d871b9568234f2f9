package dev.sandglass.api.link;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPrivateKeySpec;
import java.security.spec.XECPublicKeySpec;
import java.util.Arrays;
import javax.crypto.KeyAgreement;

/**
 * A secret key for ZeroMQ's CURVE mechanism, with its public half. Keys are compared by their public halves, and no
 * text form but {@link #secretZ85()} shows the secret.
 */
public final class CurveKey {

    /** Length of either half in bytes. */
    public static final int LENGTH = 32;

    private static final BigInteger BASE_POINT = BigInteger.valueOf(9);

    private final byte[] secret;
    private final byte[] publicKey;

    /**
     * @param secret {@value #LENGTH} bytes
     */
    public CurveKey(byte[] secret) {
        if (secret.length != LENGTH) {
            throw new IllegalArgumentException("A CURVE key has " + LENGTH + " bytes, not " + secret.length);
        }
        this.secret = secret.clone();
        this.publicKey = x25519(this.secret, BASE_POINT);
    }

    /** The secret half as ZeroMQ takes it. Never log it. */
    public String secretZ85() {
        return Z85.encode(secret);
    }

    /** The public half as ZeroMQ takes it. */
    public String publicZ85() {
        return Z85.encode(publicKey);
    }

    /** A copy of the {@value #LENGTH} secret bytes, for libraries that want them raw. */
    public byte[] secretBytes() {
        return secret.clone();
    }

    /** A copy of the {@value #LENGTH} public bytes. */
    public byte[] publicBytes() {
        return publicKey.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CurveKey key && Arrays.equals(publicKey, key.publicKey);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(publicKey);
    }

    @Override
    public String toString() {
        return "CurveKey[public=" + publicZ85() + "]";
    }

    /** The function X25519 of RFC 7748, section 5. */
    static byte[] x25519(byte[] scalar, BigInteger u) {
        try {
            KeyFactory keys = KeyFactory.getInstance("X25519");
            PublicKey point = keys.generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, u));
            KeyAgreement agreement = KeyAgreement.getInstance("X25519");
            agreement.init(keys.generatePrivate(new XECPrivateKeySpec(NamedParameterSpec.X25519, scalar)));
            agreement.doPhase(point, true);
            return agreement.generateSecret();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("The Java platform lacks X25519, or refuses the point", e);
        }
    }
}
