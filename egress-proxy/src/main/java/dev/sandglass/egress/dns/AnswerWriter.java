package dev.sandglass.egress.dns;

import dev.sandglass.api.egress.IpAddress;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Writes answers. None is more than {@value #MORE} bytes longer than its question, so that it multiplies nothing. */
public final class AnswerWriter {

    /** How long an address may be kept, in seconds: as soon as that, a name that is no longer allowed leads nowhere. */
    public static final int TTL = 5;

    /** Most bytes that an answer has and its question has not. */
    public static final int MORE = 28;

    private static final int ANSWER = 0x8000;
    private static final int RECURSION_DESIRED = 0x0100;
    /** Without it programs complain that the server does no recursion. */
    private static final int RECURSION_AVAILABLE = 0x0080;
    /** The question's name, which begins right behind the head. */
    private static final int NAME_OF_THE_QUESTION = 0xc00c;

    private static final int INTERNET = 1;

    private AnswerWriter() {}

    /** An answer without an address. */
    public static byte[] of(Message.Question question, Code code) {
        return of(question, code, Optional.empty());
    }

    /** The answer that a name has that address. */
    public static byte[] of(Message.Question question, IpAddress address) {
        return of(question, Code.NO_ERROR, Optional.of(address));
    }

    /** The answer to what is no question. */
    public static byte[] of(Message.Wrong wrong) {
        Writer writer = new Writer();
        writer.numbers(wrong.id(), ANSWER | wrong.code().number(), 0, 0, 0, 0);
        return writer.bytes();
    }

    private static byte[] of(Message.Question question, Code code, Optional<IpAddress> address) {
        Writer writer = new Writer();
        int flags = ANSWER | RECURSION_AVAILABLE | (question.recursionDesired() ? RECURSION_DESIRED : 0);
        writer.numbers(
                question.id(), flags | code.number(), 1, address.isPresent() ? 1 : 0, 0, question.extended() ? 1 : 0);
        writer.raw(question.text());
        address.ifPresent(found -> {
            byte[] raw = raw(found);
            int type = found.isSix() ? Message.AAAA : Message.A;
            writer.numbers(NAME_OF_THE_QUESTION, type, INTERNET, 0, TTL, raw.length);
            writer.raw(raw);
        });
        if (question.extended()) {
            writer.raw(new byte[] {0});
            writer.numbers(41, Message.MAX_BYTES, 0, 0, 0);
        }
        return writer.bytes();
    }

    private static byte[] raw(IpAddress address) {
        return address.isSix()
                ? ByteBuffer.allocate(16)
                        .putLong(address.high())
                        .putLong(address.low())
                        .array()
                : ByteBuffer.allocate(4).putInt((int) address.low()).array();
    }

    /** Bytes one after the other. */
    private static final class Writer {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        void numbers(int... numbers) {
            for (int number : numbers) {
                out.write(number >> 8);
                out.write(number);
            }
        }

        void raw(byte[] raw) {
            out.writeBytes(raw);
        }

        byte[] bytes() {
            return out.toByteArray();
        }
    }
}
