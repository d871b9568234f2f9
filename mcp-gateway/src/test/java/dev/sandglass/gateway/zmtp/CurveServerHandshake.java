package dev.sandglass.gateway.zmtp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.bouncycastle.math.ec.rfc7748.X25519;
import org.jspecify.annotations.Nullable;

/** The server's half of the CURVE handshake, as bodies of commands: it checks nothing. */
final class CurveServerHandshake {

    private static final int LONG_NONCE = 16;
    private static final int COOKIE = 96;
    private static final int CLIENT_KEY_AT = 6 + 2 + 72;
    // Any secret will do for a key that serves one test.
    private static final byte[] TRANSIENT_SECRET = new byte[CurveKeys.LENGTH];

    private final byte[] secret;
    private byte @Nullable [] client;

    CurveServerHandshake(byte[] secret) {
        this.secret = secret;
    }

    /** The answer to a client's hello. */
    Zmtp.Frame welcome(byte[] hello) {
        return welcome(hello, publicOf(TRANSIENT_SECRET));
    }

    /** The same with any key in the place of the server's transient one. */
    Zmtp.Frame welcome(byte[] hello, byte[] transientPublic) {
        byte[] theirs = Arrays.copyOfRange(hello, CLIENT_KEY_AT, CLIENT_KEY_AT + CurveKeys.LENGTH);
        client = theirs;
        byte[] nonce = new byte[LONG_NONCE];
        byte[] box = CurveBox.between(theirs, secret)
                .seal(Zmtp.join(ascii("WELCOME-"), nonce), Zmtp.join(transientPublic, new byte[COOKIE]));
        return new Zmtp.Frame(Zmtp.COMMAND, Zmtp.join(Zmtp.name("WELCOME"), nonce, box));
    }

    /** That the client is admitted. */
    Zmtp.Frame ready() {
        return ready(session());
    }

    /** The same, sealed in any box. */
    Zmtp.Frame ready(CurveBox sealing) {
        byte[] box = sealing.seal(Zmtp.join(ascii("CurveZMQREADY---"), Zmtp.number(1)), new byte[0]);
        return new Zmtp.Frame(Zmtp.COMMAND, Zmtp.join(Zmtp.name("READY"), Zmtp.number(1), box));
    }

    /** The boxes of what follows. */
    CurveBox session() {
        return CurveBox.between(Objects.requireNonNull(client, "no hello yet"), TRANSIENT_SECRET);
    }

    /** The public half of a secret key. */
    static byte[] publicOf(byte[] secret) {
        byte[] half = new byte[CurveKeys.LENGTH];
        X25519.generatePublicKey(secret, 0, half, 0);
        return half;
    }

    /** A frame of the server's in its box. */
    static Zmtp.Frame sealed(CurveBox session, long number, byte flags, byte[] body) {
        byte[] bytes = Zmtp.number(number);
        byte[] box = session.seal(Zmtp.join(ascii("CurveZMQMESSAGES"), bytes), Zmtp.join(new byte[] {flags}, body));
        return new Zmtp.Frame((byte) 0, Zmtp.join(Zmtp.name("MESSAGE"), bytes, box));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
