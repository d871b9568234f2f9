package dev.sandglass.gateway.zmtp;

import java.util.Arrays;
import org.bouncycastle.crypto.engines.Salsa20Engine;
import org.bouncycastle.crypto.engines.XSalsa20Engine;
import org.bouncycastle.crypto.macs.Poly1305;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.crypto.params.ParametersWithIV;
import org.bouncycastle.math.ec.rfc7748.X25519;
import org.bouncycastle.util.Pack;

/**
 * NaCl's {@code crypto_box} between two keys (Bernstein, "Cryptography in NaCl", 2009): X25519 agrees on a key, XSalsa20
 * encrypts, Poly1305 authenticates. A box is the {@value #OVERHEAD} bytes of the authenticator and the ciphertext. Not
 * thread-safe.
 */
final class CurveBox {

    /** How much longer a box is than what is in it. */
    static final int OVERHEAD = 16;

    /** Length of a nonce, which must never serve twice for the same keys. */
    static final int NONCE = 24;

    private static final int SALSA_ROUNDS = 20;
    // "expand 32-byte k", the constant of Salsa20 for keys of 32 bytes, at the diagonal of its matrix.
    private static final int[] SIGMA = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    private static final int[] SIGMA_AT = {0, 5, 10, 15};
    private static final int[] INPUT_AT = {6, 7, 8, 9};
    private static final int KEY_LOW_AT = 1;
    private static final int KEY_HIGH_AT = 11;
    private static final int MATRIX = 16;
    private static final byte[] ZEROS = new byte[CurveKeys.LENGTH];

    private final KeyParameter key;
    private final XSalsa20Engine cipher = new XSalsa20Engine();
    private final Poly1305 mac = new Poly1305();
    private final byte[] macKey = new byte[CurveKeys.LENGTH];
    private final byte[] tag = new byte[OVERHEAD];

    private CurveBox(byte[] key) {
        this.key = new KeyParameter(key);
    }

    /**
     * The boxes that go either way between a public key of theirs and a secret key of ours.
     *
     * @throws WireException if theirs is one of the few points that agree with every key on the same
     */
    static CurveBox between(byte[] theirPublic, byte[] ourSecret) {
        byte[] shared = new byte[CurveKeys.LENGTH];
        if (!X25519.calculateAgreement(ourSecret, 0, theirPublic, 0, shared, 0)) {
            throw new WireException("its key is a weak one");
        }
        return new CurveBox(hsalsa20(shared));
    }

    /** Encrypts; the box. */
    byte[] seal(byte[] nonce, byte[] plain) {
        byte[] box = new byte[OVERHEAD + plain.length];
        begin(nonce);
        cipher.processBytes(plain, 0, plain.length, box, OVERHEAD);
        mac.update(box, OVERHEAD, plain.length);
        mac.doFinal(box, 0);
        return box;
    }

    /**
     * Decrypts what stands in an array from there on.
     *
     * @throws WireException if somebody else wrote it, or for another nonce
     */
    byte[] open(byte[] nonce, byte[] bytes, int from) {
        int length = bytes.length - from - OVERHEAD;
        if (length < 0) {
            throw new WireException("a box is too short");
        }
        begin(nonce);
        mac.update(bytes, from + OVERHEAD, length);
        mac.doFinal(tag, 0);
        if (!org.bouncycastle.util.Arrays.constantTimeAreEqual(OVERHEAD, tag, 0, bytes, from)) {
            throw new WireException("a box was not sealed with the right keys");
        }
        byte[] plain = new byte[length];
        cipher.processBytes(bytes, from + OVERHEAD, length, plain, 0);
        return plain;
    }

    /** The first bytes of the key stream are the authenticator's key, the rest is for the text. */
    private void begin(byte[] nonce) {
        cipher.init(true, new ParametersWithIV(key, nonce));
        cipher.processBytes(ZEROS, 0, ZEROS.length, macKey, 0);
        mac.init(new KeyParameter(macKey));
        Arrays.fill(macKey, (byte) 0);
    }

    /**
     * HSalsa20 with an input of zeros (Bernstein, "Extending the Salsa20 nonce", section 2): Salsa20's core without the
     * addition at its end, which is taken back here.
     */
    private static byte[] hsalsa20(byte[] shared) {
        int[] before = new int[MATRIX];
        for (int i = 0; i < SIGMA.length; i++) {
            before[SIGMA_AT[i]] = SIGMA[i];
            before[KEY_LOW_AT + i] = Pack.littleEndianToInt(shared, Integer.BYTES * i);
            before[KEY_HIGH_AT + i] = Pack.littleEndianToInt(shared, Integer.BYTES * (SIGMA.length + i));
        }
        int[] after = new int[MATRIX];
        Salsa20Engine.salsaCore(SALSA_ROUNDS, before, after);
        byte[] key = new byte[CurveKeys.LENGTH];
        for (int i = 0; i < SIGMA.length; i++) {
            Pack.intToLittleEndian(after[SIGMA_AT[i]] - before[SIGMA_AT[i]], key, Integer.BYTES * i);
            Pack.intToLittleEndian(after[INPUT_AT[i]] - before[INPUT_AT[i]], key, Integer.BYTES * (SIGMA.length + i));
        }
        return key;
    }
}
