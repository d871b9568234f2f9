package dev.sandglass.egress.tls;

/** Reads numbers and parts of a message, never beyond its end. */
final class Bytes {

    /** The message ends before what it announces. */
    static final class Ended extends Exception {
        private static final long serialVersionUID = 1;

        Ended() {
            super("the message ends early", null, false, false);
        }
    }

    private final byte[] bytes;
    private final int end;
    private int at;

    Bytes(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    int left() {
        return end - at;
    }

    /** A number of so many bytes, at most three. */
    int number(int length) throws Ended {
        need(length);
        int value = 0;
        for (int i = 0; i < length; i++) {
            value = (value << 8) | (bytes[at++] & 0xff);
        }
        return value;
    }

    void skip(int length) throws Ended {
        need(length);
        at += length;
    }

    /** The next bytes, as a message of their own. */
    Bytes part(int length) throws Ended {
        need(length);
        at += length;
        return new Bytes(bytes, at - length, at);
    }

    /** A part whose length stands before it, in so many bytes. */
    Bytes counted(int lengthBytes) throws Ended {
        return part(number(lengthBytes));
    }

    /** All that is left; each byte one letter. */
    String text() {
        StringBuilder text = new StringBuilder();
        while (at < end) {
            text.append((char) (bytes[at++] & 0xff));
        }
        return text.toString();
    }

    private void need(int length) throws Ended {
        if (length > end - at) {
            throw new Ended();
        }
    }
}
