package dev.sandglass.gateway.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * One thing that a server sends during or after a handshake, right or wrong in one way, and written in a few bytes so that
 * a fuzzer can change it: kind, flaw, two bytes of detail.
 *
 * @param kind what it means to send
 * @param flaw what is wrong with it
 * @param detail where or how much
 */
record ServerScript(Kind kind, Flaw flaw, int detail) {

    /** What is sent. */
    enum Kind {
        GREETING,
        WELCOME,
        READY,
        MESSAGE,
        PING,
        ERROR,
        WEAK_WELCOME,
        NOISE
    }

    /** What is wrong with it. */
    enum Flaw {
        NONE,
        TRUNCATED,
        EXTENDED,
        BIT,
        NONCE,
        NAME,
        FLAGS,
        OVERSIZE,
        OTHER_KEY,
        VERSION
    }

    private static final List<Kind> KINDS = List.of(Kind.values());
    private static final List<Flaw> FLAWS = List.of(Flaw.values());
    private static final byte[] PING = Zmtp.join(Zmtp.name("PING"), new byte[2], new byte[16]);
    private static final int LONG = 2;
    private static final byte NO_FLAGS = 0x78;
    private static final int MAJOR_AT = 10;
    private static final int MINOR_AT = 11;
    private static final int MECHANISM_AT = 12;
    private static final int AS_SERVER_AT = 32;

    /** Reads one; any bytes are one. */
    static ServerScript of(byte[] bytes) {
        byte[] padded = Arrays.copyOf(bytes, Math.max(4, bytes.length));
        return new ServerScript(
                KINDS.get(Byte.toUnsignedInt(padded[0]) % KINDS.size()),
                FLAWS.get(Byte.toUnsignedInt(padded[1]) % FLAWS.size()),
                Byte.toUnsignedInt(padded[2]) << Byte.SIZE | Byte.toUnsignedInt(padded[3]));
    }

    /** The opposite of {@link #of}. */
    byte[] toBytes() {
        return new byte[] {
            (byte) KINDS.indexOf(kind), (byte) FLAWS.indexOf(flaw), (byte) (detail >> Byte.SIZE), (byte) detail
        };
    }

    /** Whether a client that waits for this kind of command, or for messages, must take it. */
    boolean isGood() {
        return switch (kind) {
            case GREETING -> greets(greeting());
            case WELCOME, READY -> flaw == Flaw.NONE;
            // The flags of the outer frame are not authenticated and mean nothing there.
            case MESSAGE, PING -> flaw == Flaw.NONE || flaw == Flaw.FLAGS;
            case ERROR, WEAK_WELCOME, NOISE -> false;
        };
    }

    /** Whether more comes behind it that is no frame. */
    boolean hasRubbishBehind() {
        return kind == Kind.GREETING && (flaw == Flaw.EXTENDED || flaw == Flaw.OVERSIZE);
    }

    /**
     * What goes over the wire.
     *
     * @param hello the client's; of one that did not say any, anything as long
     * @param next the number of the server's next boxed frame
     * @param most bytes that a frame may have now
     */
    byte[] bytes(CurveServerHandshake server, byte[] hello, long next, long most) {
        return switch (kind) {
            case GREETING -> hasRubbishBehind() ? Zmtp.join(greeting(), new byte[] {NO_FLAGS}) : greeting();
            case WELCOME -> command(server(server).welcome(hello).body(), Zmtp.COMMAND, most);
            case WEAK_WELCOME ->
                command(server.welcome(hello, new byte[CurveKeys.LENGTH]).body(), Zmtp.COMMAND, most);
            case READY -> {
                server.welcome(hello);
                yield command(server.ready(box(server)).body(), Zmtp.COMMAND, most);
            }
            case MESSAGE -> boxed(server, hello, next, most, (byte) 0, new byte[detail % 300]);
            case PING -> boxed(server, hello, next, most, Zmtp.BOXED_COMMAND, PING);
            case ERROR -> command(Zmtp.join(Zmtp.name("ERROR"), Zmtp.name("400")), Zmtp.COMMAND, most);
            case NOISE -> {
                byte[] noise = new byte[1 + detail % 100];
                Arrays.fill(noise, NO_FLAGS);
                yield noise;
            }
        };
    }

    private CurveServerHandshake server(CurveServerHandshake right) {
        return flaw == Flaw.OTHER_KEY ? new CurveServerHandshake(otherKey()) : right;
    }

    private CurveBox box(CurveServerHandshake server) {
        return flaw == Flaw.OTHER_KEY
                ? CurveBox.between(CurveServerHandshake.publicOf(otherKey()), otherKey())
                : server.session();
    }

    private byte[] boxed(CurveServerHandshake server, byte[] hello, long next, long most, byte flags, byte[] body) {
        server.welcome(hello);
        long number = next;
        if (flaw == Flaw.NONCE) {
            number += detail % 2 == 0 ? -1 : 1 + detail % 5;
        }
        byte[] frame =
                CurveServerHandshake.sealed(box(server), number, flags, body).body();
        return command(frame, (byte) 0, most);
    }

    /** A frame with its flaw. */
    private byte[] command(byte[] right, byte flags, long most) {
        byte[] body = right.clone();
        byte sent = flags;
        switch (flaw) {
            case TRUNCATED -> body = Arrays.copyOf(body, detail % body.length);
            case EXTENDED -> body = Arrays.copyOf(body, body.length + 1 + detail % 20);
            case BIT -> body[detail % body.length] ^= (byte) (1 << detail / body.length % Byte.SIZE);
            case NAME, VERSION -> body[1 + detail % body[0]] ^= (byte) 0x20;
            // Of a boxed frame it was chosen before.
            case NONCE -> {
                if (kind != Kind.MESSAGE && kind != Kind.PING) {
                    body[1 + body[0] + detail % (body.length - 1 - body[0])] ^= 1;
                }
            }
            case FLAGS -> sent ^= Zmtp.COMMAND;
            case OVERSIZE -> {
                return head(flags, most + 1 + detail);
            }
            case NONE, OTHER_KEY -> {
                // Right, or sealed by another.
            }
        }
        ByteBuf out = Unpooled.buffer();
        Zmtp.write(out, new Zmtp.Frame(sent, body));
        return Arrays.copyOf(out.array(), out.writerIndex());
    }

    private static byte[] head(byte flags, long length) {
        return Zmtp.join(new byte[] {(byte) (flags | LONG)}, Zmtp.number(length));
    }

    private byte[] greeting() {
        byte[] greeting = Zmtp.greeting();
        switch (flaw) {
            case BIT -> greeting[detail % greeting.length] ^= (byte) (1 << detail / greeting.length % Byte.SIZE);
            case VERSION -> {
                greeting[MAJOR_AT] = (byte) detail;
                greeting[MINOR_AT] = (byte) (detail >> Byte.SIZE);
            }
            case NAME, OTHER_KEY, NONCE ->
                System.arraycopy("NULL\0".getBytes(StandardCharsets.US_ASCII), 0, greeting, MECHANISM_AT, 5);
            case FLAGS -> greeting[AS_SERVER_AT] = 1;
            case NONE, TRUNCATED, EXTENDED, OVERSIZE -> {
                // Right in itself.
            }
        }
        return greeting;
    }

    /** RFC 37's words, without our decoder. */
    private static boolean greets(byte[] greeting) {
        String mechanism = new String(greeting, MECHANISM_AT, AS_SERVER_AT - MECHANISM_AT, StandardCharsets.ISO_8859_1);
        return greeting[0] == (byte) 0xFF
                && greeting[9] == 0x7F
                && greeting[MAJOR_AT] >= 3
                && mechanism.equals("CURVE" + "\0".repeat(15));
    }

    private static byte[] otherKey() {
        byte[] key = new byte[CurveKeys.LENGTH];
        Arrays.fill(key, (byte) 3);
        return key;
    }
}
