package dev.sandglass.egress.dns;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Makes questions of DNS, good and bad, without help of a DNS library. */
public final class Queries {

    public static final int A = 1;
    public static final int TXT = 16;
    public static final int AAAA = 28;
    public static final int HTTPS = 65;

    /** EDNS with a size of 1232 bytes, as common resolvers send it. */
    static final byte[] EDNS = {0, 0, 41, 4, (byte) 0xd0, 0, 0, 0, 0, 0, 0};

    private static final int RECURSION_DESIRED = 0x0100;

    private Queries() {}

    /** A question as a stub resolver asks it. */
    public static byte[] of(String name, int type) {
        return message(new int[] {7, RECURSION_DESIRED, 1, 0, 0, 0}, question(name, type, 1));
    }

    /** The same with EDNS. */
    public static byte[] extended(String name, int type) {
        return message(new int[] {7, RECURSION_DESIRED, 1, 0, 0, 1}, question(name, type, 1), EDNS);
    }

    static byte[] message(int[] head, byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(numbers(head));
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    static byte[] question(String name, int type, int family) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(name(name.split("\\.", -1)));
        out.writeBytes(numbers(type, family));
        return out.toByteArray();
    }

    /** A name of those labels, each letter one byte; a single empty label is the root. */
    static byte[] name(String... labels) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String label : labels) {
            if (!label.isEmpty()) {
                out.write(label.length());
                out.writeBytes(label.getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        out.write(0);
        return out.toByteArray();
    }

    static byte[] numbers(int... numbers) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int number : numbers) {
            out.write(number >> 8);
            out.write(number);
        }
        return out.toByteArray();
    }

    /** The code of an answer. */
    public static int code(byte[] answer) {
        return answer[3] & 0xf;
    }

    /** How many records an answer has. */
    public static int records(byte[] answer) {
        return ((answer[6] & 0xff) << 8) | (answer[7] & 0xff);
    }
}
