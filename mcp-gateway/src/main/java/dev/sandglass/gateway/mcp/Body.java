package dev.sandglass.gateway.mcp;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/** The body of a request as it comes: every byte is taken from the budget before it is kept. */
final class Body {

    private static final int FIRST_BYTES = 8 * 1024;

    private final int most;
    private final int declared;
    private final Allowance allowance;
    private byte[] bytes = new byte[0];
    private int count;

    /**
     * A body of which nothing has come.
     *
     * @param most bytes that it may have
     * @param declared bytes that it has as its sender says, or what it may have
     */
    Body(int most, int declared, Allowance allowance) {
        this.most = most;
        this.declared = declared;
        this.allowance = allowance;
    }

    /** Keeps a piece, or throws {@link McpError} if there is no room for it. */
    void add(ByteBuf piece) {
        int more = piece.readableBytes();
        if (more > most - count) {
            throw McpError.tooLarge(most);
        }
        allowance.take(more);
        keep(piece, more);
    }

    /** What was declared is never believed before it comes: it grows by doubling, and to what was declared at most. */
    private void keep(ByteBuf piece, int more) {
        int least = count + more;
        if (least > bytes.length) {
            int twice = Math.max(FIRST_BYTES, (int) Math.min(most, 2L * bytes.length));
            bytes = Arrays.copyOf(bytes, Math.max(least, Math.min(twice, declared)));
        }
        piece.readBytes(bytes, count, more);
        count = least;
    }

    /** All that came. */
    byte[] whole() {
        return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
    }
}
