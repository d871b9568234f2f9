package dev.sandglass.egress.dns;

import dev.sandglass.api.egress.HostName;
import java.util.Optional;

/** Reads the parts of a message, never beyond its end. */
public final class Reader {

    /** The message ends before what it announces, or has what is not taken. */
    static final class Ended extends Exception {
        private static final long serialVersionUID = 1;

        Ended() {
            super("the message is not as it should be", null, false, false);
        }
    }

    private static final int MAX_LABEL = 63;
    private static final int MAX_NAME = 255;
    private static final int EXTENSION = 41;

    private final byte[] bytes;
    private int at;

    Reader(byte[] bytes) {
        this.bytes = bytes;
    }

    int at() {
        return at;
    }

    int left() {
        return bytes.length - at;
    }

    /** A number of two bytes. */
    int number() throws Ended {
        return (octet() << 8) | octet();
    }

    private int octet() throws Ended {
        if (at >= bytes.length) {
            throw new Ended();
        }
        return bytes[at++] & 0xff;
    }

    /**
     * A name, label by label; empty if no host can be called so. A dot within a label is no dot between labels, so such a
     * name must never become one with more labels.
     */
    Optional<HostName> name() throws Ended {
        int begin = at;
        boolean sound = true;
        StringBuilder text = new StringBuilder();
        for (int length = octet(); length > 0; length = octet()) {
            // The two upper bits would make it a reference to another place, which a question has no use for.
            if (length > MAX_LABEL || at - begin + length + 1 > MAX_NAME) {
                throw new Ended();
            }
            if (!text.isEmpty()) {
                text.append('.');
            }
            for (int i = 0; i < length; i++) {
                int letter = octet();
                sound &= isOfHosts(letter);
                text.append((char) letter);
            }
        }
        return sound && !text.isEmpty() ? hostName(text.toString()) : Optional.empty();
    }

    private static boolean isOfHosts(int letter) {
        return letter == '-'
                || (letter >= '0' && letter <= '9')
                || (letter >= 'a' && letter <= 'z')
                || (letter >= 'A' && letter <= 'Z');
    }

    private static Optional<HostName> hostName(String text) {
        try {
            return Optional.of(HostName.parse(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The one record that may follow a question: EDNS of version 0, whatever it says. */
    void extension() throws Ended {
        boolean ofTheRoot = octet() == 0;
        int type = number();
        number();
        octet();
        int version = octet();
        number();
        int length = number();
        if (!ofTheRoot || type != EXTENSION || version != 0 || length > left()) {
            throw new Ended();
        }
        at += length;
    }
}
