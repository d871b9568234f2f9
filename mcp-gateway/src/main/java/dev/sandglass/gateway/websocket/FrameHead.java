package dev.sandglass.gateway.websocket;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The head of a WebSocket frame, as far as it tells where the frame ends (RFC 6455, section 5.2). Whether the frame is a good
 * one is for Netty's decoder to say.
 *
 * @param bytes of the head, with the mask's key
 * @param payload bytes of the content; negative if so many that they do not fit
 * @param isClose whether nothing but the end follows
 */
record FrameHead(int bytes, long payload, boolean isClose) {

    private static final int LEAST = 2;
    private static final int MASKED = 0x80;
    private static final int MASK_KEY = 4;
    private static final int LENGTH_IN_SHORT = 126;
    private static final int LENGTH_IN_LONG = 127;
    private static final int OPCODE = 0x0f;
    private static final int CLOSE = 8;

    /** The head at the reader's index, which stays where it is; null if more has to come. */
    static @Nullable FrameHead read(ByteBuf in) {
        int at = in.readerIndex();
        if (in.readableBytes() < LEAST) {
            return null;
        }
        int second = in.getUnsignedByte(at + 1);
        int length = second & ~MASKED;
        int more = length == LENGTH_IN_SHORT ? Short.BYTES : length == LENGTH_IN_LONG ? Long.BYTES : 0;
        if (in.readableBytes() < LEAST + more) {
            return null;
        }
        long payload =
                switch (more) {
                    case 0 -> length;
                    case Short.BYTES -> in.getUnsignedShort(at + LEAST);
                    default -> in.getLong(at + LEAST);
                };
        int key = (second & MASKED) == 0 ? 0 : MASK_KEY;
        return new FrameHead(LEAST + more + key, payload, (in.getByte(at) & OPCODE) == CLOSE);
    }

    /** From the first byte of the head to the last of the content. */
    long whole() {
        return bytes + payload;
    }
}
