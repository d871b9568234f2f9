package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.gateway.contract.InvalidArgument;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The bytes of paths in URIs (RFC 3986, section 2.1). Pure. */
final class PercentEncoding {

    /** What a path may hold as it is, besides letters and digits: unreserved, sub-delims, and what separates. */
    private static final String PLAIN = "-._~!$&'()*+,;=:@/";

    /** A template leaves brackets as they are, so they are read though a URI may not have them there. */
    private static final String READ_TOO = PLAIN + "[]";

    private static final String RESERVED = READ_TOO + "?#";

    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    private static final int DIGITS = 2;

    private PercentEncoding() {}

    /** Encodes all that a path may not hold as it is. */
    static String encoded(String path) {
        StringBuilder encoded = new StringBuilder(path.length());
        for (byte each : path.getBytes(StandardCharsets.UTF_8)) {
            if (isPlain((char) (each & 0xff), PLAIN)) {
                encoded.append((char) each);
            } else {
                encoded.append('%').append(HEX.toHexDigits(each));
            }
        }
        return encoded.toString();
    }

    /**
     * Decodes once. Characters beyond ASCII may stand as they are.
     *
     * @throws InvalidArgument if a character must be encoded, or what is encoded is not UTF-8
     */
    static String decoded(String encoded) {
        var bytes = new ByteArrayOutputStream(encoded.length());
        int at = 0;
        while (at < encoded.length()) {
            char letter = encoded.charAt(at);
            if (letter == '%') {
                bytes.write(octet(encoded, at + 1));
                at += 1 + DIGITS;
            } else {
                int end = at + Character.charCount(encoded.codePointAt(at));
                bytes.writeBytes(utf8(plain(encoded.substring(at, end))));
                at = end;
            }
        }
        return text(bytes.toByteArray());
    }

    /** What a template makes of a value of {@code {+path}}: what is encoded stays so (RFC 6570, section 3.2.3). */
    static String expanded(String value) {
        StringBuilder expanded = new StringBuilder(value.length());
        for (int at = 0; at < value.length(); at++) {
            char letter = value.charAt(at);
            boolean stays = letter == '%' ? hasDigits(value, at + 1) : letter >= 0x80 || isPlain(letter, RESERVED);
            expanded.append(stays ? String.valueOf(letter) : "%" + HEX.toHexDigits((byte) letter));
        }
        return expanded.toString();
    }

    /** Whether two hexadecimal digits are there. */
    static boolean hasDigits(String text, int at) {
        return at + DIGITS <= text.length()
                && HexFormat.isHexDigit(text.charAt(at))
                && HexFormat.isHexDigit(text.charAt(at + 1));
    }

    private static int octet(String encoded, int at) {
        if (!hasDigits(encoded, at)) {
            throw new InvalidArgument("'uri' has a % without two hexadecimal digits behind it; write % itself as %25");
        }
        return HexFormat.fromHexDigits(encoded, at, at + DIGITS);
    }

    private static String plain(String character) {
        char first = character.charAt(0);
        if (first < 0x80 && !isPlain(first, READ_TOO)) {
            throw new InvalidArgument(
                    "'uri' has the character U+%04X, which must be percent-encoded".formatted((int) first));
        }
        return character;
    }

    private static boolean isPlain(char letter, String others) {
        boolean digit = letter >= '0' && letter <= '9';
        boolean small = letter >= 'a' && letter <= 'z';
        boolean capital = letter >= 'A' && letter <= 'Z';
        return digit || small || capital || others.indexOf(letter) >= 0;
    }

    private static byte[] utf8(String character) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(character));
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            return copy;
        } catch (CharacterCodingException half) {
            throw new InvalidArgument("'uri' holds half a character (an unpaired surrogate), which no text may");
        }
    }

    private static String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException odd) {
            throw new InvalidArgument("'uri' has percent-encoded bytes that are not UTF-8");
        }
    }
}
