package dev.sandglass.gateway.zmtp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Frames over a connection whose CURVE handshake is done (ZeroMQ RFC 26/CurveZMQ, {@code MESSAGE}): each is boxed with its
 * flags under a number that rises by one, so that nothing can be read, changed, left out or said twice. Not thread-safe.
 */
final class CurveMessages {

    /** How much longer a boxed frame is than its content. */
    static final int OVERHEAD = 8 + Long.BYTES + CurveBox.OVERHEAD + 1;

    private static final byte[] MESSAGE = Zmtp.name("MESSAGE");
    private static final byte[] OURS = "CurveZMQMESSAGEC".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] THEIRS = "CurveZMQMESSAGES".getBytes(StandardCharsets.US_ASCII);

    private final CurveBox session;
    private final byte[] ourNonce = Arrays.copyOf(OURS, CurveBox.NONCE);
    private final byte[] theirNonce = Arrays.copyOf(THEIRS, CurveBox.NONCE);
    private long next;
    private long heard;

    /**
     * @param next the number of our next frame
     * @param heard the last number of theirs
     */
    CurveMessages(CurveBox session, long next, long heard) {
        this.session = session;
        this.next = next;
        this.heard = heard;
    }

    /** A frame in a box; the outer frame. */
    Zmtp.Frame seal(Zmtp.Frame frame) {
        ByteBuffer.wrap(ourNonce).putLong(OURS.length, next);
        byte[] plain = new byte[1 + frame.body().length];
        plain[0] = frame.flags();
        System.arraycopy(frame.body(), 0, plain, 1, frame.body().length);
        byte[] boxed = Zmtp.join(MESSAGE, Zmtp.number(next), session.seal(ourNonce, plain));
        next++;
        return new Zmtp.Frame((byte) 0, boxed);
    }

    /**
     * The frame in a box.
     *
     * @throws WireException if it is none of theirs, or not the one after the last
     */
    Zmtp.Frame open(byte[] boxed) {
        if (boxed.length < OVERHEAD || !Zmtp.isNamed(boxed, MESSAGE)) {
            throw new WireException("it sent something that is not encrypted");
        }
        long number = ByteBuffer.wrap(boxed).getLong(MESSAGE.length);
        if (number != heard + 1) {
            throw new WireException("it left out or repeated something");
        }
        ByteBuffer.wrap(theirNonce).putLong(THEIRS.length, number);
        byte[] plain = session.open(theirNonce, boxed, MESSAGE.length + Long.BYTES);
        heard = number;
        return new Zmtp.Frame(plain[0], Arrays.copyOfRange(plain, 1, plain.length));
    }
}
