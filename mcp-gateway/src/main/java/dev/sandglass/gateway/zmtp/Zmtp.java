package dev.sandglass.gateway.zmtp;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** ZeroMQ's transport protocol (RFC 37/ZMTP 3.1) as far as a DEALER with CURVE needs it: greeting and frames. Pure. */
final class Zmtp {

    /** More frames of the same message follow. */
    static final byte MORE = 1;

    /** A command, not a part of a message. */
    static final byte COMMAND = 4;

    /** The same inside a box of CURVE. */
    static final byte BOXED_COMMAND = 2;

    /** Length of either side's greeting. */
    static final int GREETING = 64;

    /** Most bytes of a frame before its body. */
    static final int MAX_HEAD = 1 + Long.BYTES;

    private static final byte LONG = 2;
    private static final int SHORT_HEAD = 2;
    private static final int MAX_SHORT = 255;
    private static final byte SIGNATURE_BEGIN = (byte) 0xFF;
    private static final byte SIGNATURE_END = 0x7F;
    private static final int SIGNATURE_END_AT = 9;
    private static final int MAJOR_AT = 10;
    private static final int MINOR_AT = 11;
    private static final int MECHANISM_AT = 12;
    private static final int MECHANISM_END = 32;
    private static final byte MAJOR = 3;
    private static final byte MINOR = 1;
    private static final byte[] CURVE =
            Arrays.copyOf("CURVE".getBytes(StandardCharsets.US_ASCII), MECHANISM_END - MECHANISM_AT);

    private Zmtp() {}

    /**
     * A frame without its length.
     *
     * @param flags {@link #MORE} and, depending on where, {@link #COMMAND} or {@link #BOXED_COMMAND}
     * @param body its content
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Frame(byte flags, byte[] body) {
        boolean has(byte flag) {
            return (flags & flag) != 0;
        }
    }

    /** What a client says first. */
    static byte[] greeting() {
        byte[] greeting = new byte[GREETING];
        greeting[0] = SIGNATURE_BEGIN;
        greeting[SIGNATURE_END_AT] = SIGNATURE_END;
        greeting[MAJOR_AT] = MAJOR;
        greeting[MINOR_AT] = MINOR;
        System.arraycopy(CURVE, 0, greeting, MECHANISM_AT, CURVE.length);
        return greeting;
    }

    /**
     * Takes a greeting that came in.
     *
     * @throws WireException if it is no server of our kind
     */
    static void check(byte[] greeting) {
        if (greeting[0] != SIGNATURE_BEGIN || greeting[SIGNATURE_END_AT] != SIGNATURE_END) {
            throw new WireException("it does not speak ZeroMQ");
        }
        if (greeting[MAJOR_AT] < MAJOR
                || !Arrays.equals(greeting, MECHANISM_AT, MECHANISM_END, CURVE, 0, CURVE.length)) {
            throw new WireException("it does not speak ZeroMQ with CURVE");
        }
    }

    /** The beginning of a command, or of a property: the name's length and the name. */
    static byte[] name(String name) {
        byte[] text = name.getBytes(StandardCharsets.US_ASCII);
        byte[] whole = new byte[1 + text.length];
        whole[0] = (byte) text.length;
        System.arraycopy(text, 0, whole, 1, text.length);
        return whole;
    }

    /** Whether a command has that name. */
    static boolean isNamed(byte[] command, byte[] name) {
        return command.length >= name.length && Arrays.equals(command, 0, name.length, name, 0, name.length);
    }

    /** One property of a socket's metadata. */
    static byte[] property(String name, byte[] value) {
        byte[] length = {0, 0, 0, (byte) value.length};
        return join(name(name), length, value);
    }

    /** A number as 8 bytes, the highest first. */
    static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    /** The parts one after another. */
    static byte[] join(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteBuffer whole = ByteBuffer.allocate(length);
        for (byte[] part : parts) {
            whole.put(part);
        }
        return whole.array();
    }

    /** Writes a frame. */
    static void write(ByteBuf out, Frame frame) {
        byte flags = frame.flags();
        byte[] body = frame.body();
        if (body.length > MAX_SHORT) {
            out.writeByte(flags | LONG).writeLong(body.length);
        } else {
            out.writeByte(flags).writeByte(body.length);
        }
        out.writeBytes(body);
    }

    /**
     * The next frame, or null if it is not all there yet.
     *
     * @param most bytes of its body
     * @throws WireException if it is longer than that, or has flags that nobody defined
     */
    static @Nullable Frame read(ByteBuf in, long most) {
        if (!in.isReadable()) {
            return null;
        }
        int start = in.readerIndex();
        byte flags = in.getByte(start);
        if ((flags & ~(MORE | LONG | COMMAND)) != 0) {
            throw new WireException("it sent a frame of an unknown kind");
        }
        int head = (flags & LONG) == 0 ? SHORT_HEAD : MAX_HEAD;
        if (in.readableBytes() < head) {
            return null;
        }
        long length = head == SHORT_HEAD ? in.getUnsignedByte(start + 1) : in.getLong(start + 1);
        if (length < 0 || length > most) {
            throw new WireException("it sent a frame of more than " + most + " bytes");
        }
        if (in.readableBytes() < head + length) {
            return null;
        }
        byte[] body = new byte[(int) length];
        in.skipBytes(head).readBytes(body);
        return new Frame((byte) (flags & ~LONG), body);
    }
}
