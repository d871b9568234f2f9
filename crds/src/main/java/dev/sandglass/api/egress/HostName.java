package dev.sandglass.api.egress;

import java.net.IDN;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A host's name in its one canonical form: lower-case letters, digits and hyphens in labels of at most 63, at most 253 in
 * all, no dot at the end. What a URL parser might take for an address (a last label that is a number) is no name.
 *
 * @param value the canonical text, such as {@code www.example.com}
 */
public record HostName(String value) {

    /** Longest name. */
    public static final int MAX_LENGTH = 253;

    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern HEX_NUMBER = Pattern.compile("0x[0-9a-f]*");

    /**
     * Takes a name that is canonical already.
     *
     * @throws IllegalArgumentException if it is not
     */
    public HostName {
        if (value.length() > MAX_LENGTH) {
            throw tooLong(value);
        }
        for (String label : value.split("\\.", -1)) {
            if (!LABEL.matcher(label).matches()) {
                throw new IllegalArgumentException(
                        Texts.shown(value) + " is not a host name: labels of 1 to 63 letters,"
                                + " digits and hyphens, not beginning or ending with a hyphen, with single dots between them");
            }
        }
        if (looksLikeAddress(value)) {
            throw new IllegalArgumentException(
                    Texts.shown(value) + " is neither a host name nor an IPv4 address of four decimal numbers");
        }
    }

    /**
     * Brings a name into its canonical form: lower case, without one dot at its end. Letters beyond ASCII are refused and
     * not converted, for different programs convert some of them differently.
     *
     * @throws IllegalArgumentException saying what a name may be
     */
    public static HostName parse(String text) {
        // First of all, since the rest takes time for each letter, and the text may be anybody's.
        if (text.length() > MAX_LENGTH + 1) {
            throw tooLong(text);
        }
        if (!Texts.isAscii(text)) {
            throw new IllegalArgumentException(Texts.shown(text) + " has letters that are not ASCII" + inAscii(text));
        }
        String lower = text.toLowerCase(Locale.ROOT);
        return new HostName(lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower);
    }

    private static IllegalArgumentException tooLong(String text) {
        return new IllegalArgumentException(
                Texts.shown(text) + " is longer than the " + MAX_LENGTH + " characters that a name may have");
    }

    private static String inAscii(String text) {
        try {
            return "; write it as '"
                    + IDN.toASCII(text, IDN.USE_STD3_ASCII_RULES).toLowerCase(Locale.ROOT) + "'";
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return "";
        }
    }

    /** Whether a URL parser may read that as an IPv4 address in some spelling: {@code 127.1}, {@code 0x7f000001}. */
    static boolean looksLikeAddress(String lower) {
        String last = lower.substring(lower.lastIndexOf('.') + 1);
        return Texts.isDigits(last) || HEX_NUMBER.matcher(last).matches();
    }

    /** What is left of the name without its first label, without its first two, and so on. */
    List<String> parents() {
        List<String> parents = new ArrayList<>();
        for (int dot = value.indexOf('.'); dot >= 0; dot = value.indexOf('.', dot + 1)) {
            parents.add(value.substring(dot + 1));
        }
        return parents;
    }

    @Override
    public String toString() {
        return value;
    }
}
