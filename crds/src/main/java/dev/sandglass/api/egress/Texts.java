package dev.sandglass.api.egress;

import dev.sandglass.api.ForeignText;

/** How texts from outside are looked at and shown in errors. */
final class Texts {

    private static final int SHOWN = 60;

    private Texts() {}

    /** The beginning of a text in quotes, with what is not printable ASCII as {@code ?}. */
    static String shown(String text) {
        return "'" + ForeignText.ascii(text, SHOWN) + "'";
    }

    static boolean isAscii(String text) {
        return text.chars().allMatch(letter -> letter < 0x80);
    }

    static boolean isDigits(String text) {
        return !text.isEmpty() && text.chars().allMatch(letter -> letter >= '0' && letter <= '9');
    }

    static boolean isHex(String text) {
        return !text.isEmpty() && text.chars().allMatch(letter -> Character.digit(letter, 16) >= 0 && letter < 0x80);
    }

    /**
     * Reads a decimal number without sign and leading zero.
     *
     * @return -1 if it is none, or more than {@code most}
     */
    static int number(String text, int most) {
        boolean odd = !isDigits(text) || text.length() > 6 || (text.length() > 1 && text.charAt(0) == '0');
        int value = odd ? -1 : Integer.parseInt(text);
        return value > most ? -1 : value;
    }
}
