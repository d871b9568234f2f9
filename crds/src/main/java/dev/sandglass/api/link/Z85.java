package dev.sandglass.api.link;

/** ZeroMQ's text form of binary keys (ZeroMQ RFC 32): five printable characters for every four bytes. */
public final class Z85 {

    private static final String ALPHABET =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    private static final int BASE = 85;
    private static final int BYTES = 4;
    private static final int CHARACTERS = 5;

    private Z85() {}

    /**
     * @param bytes as many as divide by four
     * @throws IllegalArgumentException if the length does not divide by four
     */
    public static String encode(byte[] bytes) {
        if (bytes.length % BYTES != 0) {
            throw new IllegalArgumentException("Z85 needs a multiple of 4 bytes, not " + bytes.length);
        }
        StringBuilder text = new StringBuilder(bytes.length / BYTES * CHARACTERS);
        for (int at = 0; at < bytes.length; at += BYTES) {
            long word = 0;
            for (int i = 0; i < BYTES; i++) {
                word = (word << Byte.SIZE) | Byte.toUnsignedLong(bytes[at + i]);
            }
            for (long power = 85L * 85 * 85 * 85; power > 0; power /= BASE) {
                text.append(ALPHABET.charAt((int) (word / power % BASE)));
            }
        }
        return text.toString();
    }

    /**
     * @param text as many characters as divide by five
     * @throws IllegalArgumentException if the text is not Z85; the message does not repeat it, as it may be a key
     */
    public static byte[] decode(String text) {
        if (text.length() % CHARACTERS != 0) {
            throw new IllegalArgumentException("Z85 needs a multiple of 5 characters, not " + text.length());
        }
        byte[] bytes = new byte[text.length() / CHARACTERS * BYTES];
        for (int group = 0; group < text.length() / CHARACTERS; group++) {
            long word = word(text, group * CHARACTERS);
            for (int i = 0; i < BYTES; i++) {
                bytes[group * BYTES + i] = (byte) (word >>> (Byte.SIZE * (BYTES - 1 - i)));
            }
        }
        return bytes;
    }

    private static long word(String text, int from) {
        long word = 0;
        for (int i = from; i < from + CHARACTERS; i++) {
            int digit = ALPHABET.indexOf(text.charAt(i));
            if (digit < 0) {
                throw new IllegalArgumentException("Not a Z85 character at index " + i);
            }
            word = word * BASE + digit;
        }
        if (word > 0xFFFF_FFFFL) {
            throw new IllegalArgumentException("Z85 group at index " + from + " exceeds 32 bits");
        }
        return word;
    }
}
