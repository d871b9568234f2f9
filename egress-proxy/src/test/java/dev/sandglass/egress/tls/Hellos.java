package dev.sandglass.egress.tls;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Makes ClientHellos, good and bad, without help of a TLS library. */
public final class Hellos {

    private Hellos() {}

    /** A whole one in one record. */
    public static byte[] naming(String name) {
        return record(message(serverName(name)));
    }

    /** The same with more extensions behind the name. */
    public static byte[] naming(String name, byte[]... more) {
        return record(message(joined(serverName(name), joined(more))));
    }

    /** Extensions in a message. */
    static byte[] message(byte[] extensions) {
        byte[] body = joined(
                new byte[] {3, 3},
                new byte[32],
                new byte[] {0},
                counted(2, new byte[] {0x13, 0x01}),
                counted(1, new byte[] {0}),
                counted(2, extensions));
        return joined(new byte[] {1}, counted(3, body));
    }

    static byte[] serverName(String name) {
        byte[] entry = joined(new byte[] {0}, counted(2, name.getBytes(StandardCharsets.ISO_8859_1)));
        return extension(0, counted(2, entry));
    }

    /** An extension of any type. */
    public static byte[] extension(int type, byte[] content) {
        return joined(new byte[] {(byte) (type >> 8), (byte) type}, counted(2, content));
    }

    static byte[] record(byte[] fragment) {
        return joined(new byte[] {22, 3, 1}, counted(2, fragment));
    }

    /** A message cut into records of that many bytes. */
    static byte[] records(byte[] message, int size) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int at = 0; at < message.length; at += size) {
            all.writeBytes(record(Arrays.copyOfRange(message, at, Math.min(message.length, at + size))));
        }
        return all.toByteArray();
    }

    static byte[] counted(int lengthBytes, byte[] content) {
        byte[] length = new byte[lengthBytes];
        for (int i = 0; i < lengthBytes; i++) {
            length[i] = (byte) (content.length >> (8 * (lengthBytes - 1 - i)));
        }
        return joined(length, content);
    }

    static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
