package dev.sandglass.egress.proxy;

import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.request.Refusal;
import dev.sandglass.egress.request.RequestHead;
import dev.sandglass.egress.tunnel.FirstReader;
import dev.sandglass.egress.tunnel.Outcome;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.time.Duration;

/** Collects the head of a request, and keeps what comes behind it until the next handler takes it. */
final class HeadReader extends FirstReader {

    /** How a head is understood. */
    @FunctionalInterface
    interface Meaning {
        ProxyRequest of(RequestHead head) throws Refusal;
    }

    private static final byte[] END = {'\r', '\n', '\r', '\n'};
    private static final ByteBuf END_BYTES = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(END));

    private final Meaning meaning;
    private int searched;

    HeadReader(Duration patience, Meaning meaning, Reader reader) {
        super(patience, "the head of the request did not come in time", reader);
        this.meaning = meaning;
    }

    @Override
    protected void look() {
        int length = headLength();
        if (length > RequestHead.MAX_BYTES || (length < 0 && held.readableBytes() >= RequestHead.MAX_BYTES)) {
            refuse(Outcome.HEAD_TOO_LONG, "the head of a request may have " + RequestHead.MAX_BYTES + " bytes");
        } else if (length >= 0) {
            read(length);
        }
    }

    /** Up to and with the empty line; -1 if it has not come. */
    private int headLength() {
        int most = Math.min(held.readableBytes(), RequestHead.MAX_BYTES + 1);
        for (int i = searched; i + END.length <= most; i++) {
            if (ByteBufUtil.equals(held, i, END_BYTES, 0, END.length)) {
                return i + END.length;
            }
            searched = i;
        }
        return -1;
    }

    private void read(int length) {
        byte[] head = new byte[length];
        held.readBytes(head);
        ProxyRequest request;
        try {
            request = meaning.of(RequestHead.parse(head));
        } catch (Refusal refusal) {
            refuse(Outcome.MALFORMED, refusal.sentence());
            return;
        }
        understand(request);
    }
}
