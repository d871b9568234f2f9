package dev.sandglass.gateway.zmtp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.bouncycastle.math.ec.rfc7748.X25519;

/**
 * The client's half of the CURVE handshake (ZeroMQ RFC 26/CurveZMQ): {@code HELLO}, {@code WELCOME}, {@code INITIATE},
 * {@code READY}. Bodies of commands in, bodies of commands out; not thread-safe, serves once.
 */
final class CurveHandshake {

    private static final byte[] HELLO = Zmtp.name("HELLO");
    private static final byte[] WELCOME = Zmtp.name("WELCOME");
    private static final byte[] INITIATE = Zmtp.name("INITIATE");
    private static final byte[] READY = Zmtp.name("READY");

    private static final byte[] HELLO_NONCE = ascii("CurveZMQHELLO---");
    private static final byte[] WELCOME_NONCE = ascii("WELCOME-");
    private static final byte[] VOUCH_NONCE = ascii("VOUCH---");
    private static final byte[] INITIATE_NONCE = ascii("CurveZMQINITIATE");
    private static final byte[] READY_NONCE = ascii("CurveZMQREADY---");

    private static final byte[] VERSION = {1, 0};
    // The request must not be shorter than the answer: else a server could be used to flood others.
    private static final int PADDING = 72;
    private static final int SIGNATURE = 64;
    private static final int LONG_NONCE = 16;
    private static final int COOKIE = 96;
    private static final int WELCOME_BOX = CurveBox.OVERHEAD + CurveKeys.LENGTH + COOKIE;
    private static final long FIRST = 1;

    private final CurveKeys keys;
    private final byte[] metadata;
    private final IntFunction<byte[]> random;
    private final byte[] transientSecret;
    private final byte[] transientPublic = new byte[CurveKeys.LENGTH];
    private final CurveBox opening;

    /**
     * @param keys the far side must prove that it has the secret half of theirs
     * @param metadata of the socket, as {@link Zmtp#property} writes it
     * @param random so many random bytes, from a source fit for keys
     */
    CurveHandshake(CurveKeys keys, byte[] metadata, IntFunction<byte[]> random) {
        this.keys = keys;
        this.metadata = metadata.clone();
        this.random = random;
        this.transientSecret = random.apply(CurveKeys.LENGTH);
        X25519.generatePublicKey(transientSecret, 0, transientPublic, 0);
        this.opening = between(keys.theirPublic());
    }

    /** The first command. */
    Zmtp.Frame hello() {
        byte[] box = opening.seal(Zmtp.join(HELLO_NONCE, Zmtp.number(FIRST)), new byte[SIGNATURE]);
        byte[] command = Zmtp.join(HELLO, VERSION, new byte[PADDING], transientPublic, Zmtp.number(FIRST), box);
        return new Zmtp.Frame(Zmtp.COMMAND, command);
    }

    /**
     * The answer to the server's first command.
     *
     * @throws WireException if another side than the one with the server's secret key wrote it
     */
    Initiated initiate(byte[] welcome) {
        expect(welcome, WELCOME, WELCOME.length + LONG_NONCE + WELCOME_BOX, true);
        int boxAt = WELCOME.length + LONG_NONCE;
        byte[] nonce = Zmtp.join(WELCOME_NONCE, Arrays.copyOfRange(welcome, WELCOME.length, boxAt));
        byte[] plain = opening.open(nonce, welcome, boxAt);
        byte[] theirs = Arrays.copyOf(plain, CurveKeys.LENGTH);
        byte[] cookie = Arrays.copyOfRange(plain, CurveKeys.LENGTH, plain.length);
        CurveBox session = between(theirs);
        byte[] vouched = Zmtp.join(keys.ourPublic(), vouch(theirs), metadata);
        byte[] box = session.seal(Zmtp.join(INITIATE_NONCE, Zmtp.number(FIRST + 1)), vouched);
        byte[] command = Zmtp.join(INITIATE, cookie, Zmtp.number(FIRST + 1), box);
        return new Initiated(new Zmtp.Frame(Zmtp.COMMAND, command), session);
    }

    /** That the transient key is ours, in a box that only the long-term key can have sealed; its nonce goes before it. */
    private byte[] vouch(byte[] theirs) {
        byte[] nonce = random.apply(LONG_NONCE);
        byte[] plain = Zmtp.join(transientPublic, keys.theirPublic());
        byte[] box = CurveBox.between(theirs, keys.ourSecret()).seal(Zmtp.join(VOUCH_NONCE, nonce), plain);
        return Zmtp.join(nonce, box);
    }

    private CurveBox between(byte[] theirs) {
        return CurveBox.between(theirs, transientSecret);
    }

    private static void expect(byte[] command, byte[] name, int length, boolean exactly) {
        if (command.length < length || (exactly && command.length != length) || !Zmtp.isNamed(command, name)) {
            throw new WireException("the encrypted handshake failed");
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * The handshake but for the server's last word.
     *
     * @param command what is to be sent
     * @param session the boxes of what follows
     */
    record Initiated(Zmtp.Frame command, CurveBox session) {

        /**
         * The server's last word, which says that it admits us.
         *
         * @throws WireException if it does not say so
         */
        CurveMessages finish(byte[] ready) {
            int boxAt = READY.length + Long.BYTES;
            expect(ready, READY, boxAt + CurveBox.OVERHEAD, false);
            long number = ByteBuffer.wrap(ready).getLong(READY.length);
            session.open(Zmtp.join(READY_NONCE, Zmtp.number(number)), ready, boxAt);
            return new CurveMessages(session, FIRST + 2, number);
        }
    }
}
