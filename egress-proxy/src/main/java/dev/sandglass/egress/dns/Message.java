package dev.sandglass.egress.dns;

import dev.sandglass.api.egress.HostName;
import java.util.Arrays;
import java.util.Optional;

/**
 * A message to a server of DNS. Read strictly, as an answer repeats it and a verdict depends on it: one question,
 * nothing before it, behind it nothing but what EDNS allows, no name by reference.
 */
public sealed interface Message {

    /** Most bytes of a message that is read; a question with the longest name and EDNS has less than 300. */
    int MAX_BYTES = 512;

    /** Type of a question for an IPv4 address. */
    int A = 1;

    /** Type of a question for an IPv6 address. */
    int AAAA = 28;

    /** One that is not answered: what is not even a head, and answers, so that no two servers answer each other forever. */
    record Dropped() implements Message {}

    /**
     * One that is answered with a code alone.
     *
     * @param id what the asker knows the answer by
     */
    record Wrong(int id, Code code) implements Message {}

    /** A question. */
    final class Question implements Message {
        private final int id;
        private final boolean recursionDesired;
        private final boolean extended;
        private final byte[] text;
        private final Optional<HostName> name;
        private final int type;

        Question(Head head, boolean extended, byte[] text, Optional<HostName> name, int type) {
            this.id = head.id();
            this.recursionDesired = head.recursionDesired();
            this.extended = extended;
            this.text = text.clone();
            this.name = name;
            this.type = type;
        }

        int id() {
            return id;
        }

        boolean recursionDesired() {
            return recursionDesired;
        }

        /** Whether it has EDNS, and its answer must have it. */
        boolean extended() {
            return extended;
        }

        /** Name, type and class as they were written; their letters' case must be the same in the answer. */
        byte[] text() {
            return text.clone();
        }

        /** Whom it asks for; empty for what no host can be called, such as {@code _tcp.example.com}. */
        public Optional<HostName> name() {
            return name;
        }

        /** What it asks for. */
        public int type() {
            return type;
        }
    }

    /** The first three numbers of a message. */
    record Head(int id, int flags, int questions) {
        boolean recursionDesired() {
            return (flags & 0x0100) != 0;
        }

        boolean isAnswer() {
            return (flags & 0x8000) != 0;
        }

        int operation() {
            return (flags >> 11) & 0xf;
        }
    }

    /** Reads a message; never fails. */
    static Message parse(byte[] bytes) {
        Reader reader = new Reader(bytes);
        try {
            Head head = new Head(reader.number(), reader.number(), reader.number());
            int answers = reader.number();
            int authorities = reader.number();
            int additional = reader.number();
            if (head.isAnswer()) {
                return new Dropped();
            }
            if (head.operation() != 0) {
                return new Wrong(head.id(), Code.NOT_IMPLEMENTED);
            }
            boolean oneQuestion = head.questions() == 1 && answers == 0 && authorities == 0 && additional <= 1;
            return oneQuestion && bytes.length <= MAX_BYTES
                    ? question(head, additional == 1, reader, bytes)
                    : new Wrong(head.id(), Code.FORMAT_ERROR);
        } catch (Reader.Ended e) {
            return new Dropped();
        }
    }

    private static Message question(Head head, boolean extended, Reader reader, byte[] bytes) {
        try {
            int begin = reader.at();
            Optional<HostName> name = reader.name();
            int type = reader.number();
            int family = reader.number();
            byte[] text = Arrays.copyOfRange(bytes, begin, reader.at());
            if (extended) {
                reader.extension();
            }
            if (reader.left() > 0) {
                return new Wrong(head.id(), Code.FORMAT_ERROR);
            }
            return family == 1 ? new Question(head, extended, text, name, type) : new Wrong(head.id(), Code.REFUSED);
        } catch (Reader.Ended e) {
            return new Wrong(head.id(), Code.FORMAT_ERROR);
        }
    }
}
