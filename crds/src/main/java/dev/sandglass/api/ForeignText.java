package dev.sandglass.api;

import java.util.HexFormat;

/**
 * Text that code in a sandbox, or the author of a resource, wrote, made fit to stand in our own words: in conditions,
 * Events, answers, refusals and log lines. It cannot break lines, move a cursor, change the direction of what stands
 * around it, or hide anything from the reader. What a program must get exactly is data and does not pass here. Pure.
 */
public final class ForeignText {

    private static final String CUT = "…";
    private static final char BLANK = ' ';
    private static final HexFormat HEX = HexFormat.of();

    private ForeignText() {}

    /** What becomes of a character. */
    private enum Kind {
        /** It stays. */
        SHOWN,
        /** It moves what follows: a blank stands for it. */
        SPACE,
        /** It does not show: it is left out. */
        HIDDEN
    }

    /**
     * The text on one line, each of its characters visible.
     *
     * @param most characters; of a longer text the beginning is kept, and a mark says so
     */
    public static String line(String text, int most) {
        String line = clean(text);
        return line.length() <= most ? line : line.substring(0, boundary(line, most)) + CUT;
    }

    /** The same, keeping the end of a longer text: of last words it says more than the beginning. */
    public static String end(String text, int most) {
        String line = clean(text);
        return line.length() <= most ? line : CUT + line.substring(boundary(line, line.length() - most));
    }

    /** The text in printable ASCII, with {@code ?} for everything else; for names of hosts, where one letter looks like another. */
    public static String ascii(String text, int most) {
        String begin = text.length() <= most ? text : text.substring(0, most);
        return begin.replaceAll("[^\\x20-\\x7e]", "?") + (begin.length() < text.length() ? CUT : "");
    }

    /**
     * A name, such as a file's, so that it can be read and copied: as it is, or as a JSON string in double quotes if it has
     * characters that {@link #line} would change. Put into the arguments of a call, either form is the same name.
     */
    public static String name(String name) {
        return isPlain(name) ? name : "\"" + escaped(name.replace("\\", "\\\\").replace("\"", "\\\"")) + "\"";
    }

    /** The same with quotes around it in any case. */
    public static String quoted(String name) {
        return isPlain(name) ? "'" + name + "'" : name(name);
    }

    /** A JSON text that says the same, line breaks between its values included, with all that does not show as escapes. */
    public static String json(String json) {
        StringBuilder shown = new StringBuilder(json.length());
        json.lines().forEach(line -> shown.append(shown.isEmpty() ? "" : "\n").append(escaped(line)));
        return shown.toString();
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty() && name.charAt(0) != '"' && clean(name).equals(name);
    }

    private static String clean(String text) {
        StringBuilder line = new StringBuilder(text.length());
        text.codePoints().forEach(letter -> {
            switch (kind(letter)) {
                case SHOWN -> line.appendCodePoint(letter);
                case SPACE -> {
                    boolean again = !line.isEmpty() && line.charAt(line.length() - 1) == BLANK;
                    if (letter == BLANK || !again) {
                        line.append(BLANK);
                    }
                }
                case HIDDEN -> {}
            }
        });
        return line.toString().strip();
    }

    private static String escaped(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(letter -> {
            if (letter == BLANK || kind(letter) == Kind.SHOWN) {
                shown.appendCodePoint(letter);
            } else {
                for (char half : Character.toChars(letter)) {
                    shown.append("\\u").append(HEX.toHexDigits(half));
                }
            }
        });
        return shown.toString();
    }

    private static Kind kind(int letter) {
        return switch (Character.getType(letter)) {
            case Character.CONTROL,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SPACE_SEPARATOR -> Kind.SPACE;
            // Among them marks of direction, zero-width letters, tags, and halves of characters.
            case Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED -> Kind.HIDDEN;
            default -> isIgnorable(letter) ? Kind.HIDDEN : Kind.SHOWN;
        };
    }

    /** What Unicode calls ignorable and not {@code FORMAT}, variation selectors among it; and a letter that is a blank. */
    private static boolean isIgnorable(int letter) {
        return letter == 0x034f
                || letter == 0x115f
                || letter == 0x1160
                || letter == 0x17b4
                || letter == 0x17b5
                || (letter >= 0x180b && letter <= 0x180f)
                || letter == 0x2800
                || letter == 0x3164
                || letter == 0xffa0
                || (letter >= 0xfe00 && letter <= 0xfe0f)
                || (letter >= 0xe0100 && letter <= 0xe01ef);
    }

    /** The index itself, or the one before if it were within a character. */
    private static int boundary(String text, int index) {
        boolean within = index > 0
                && index < text.length()
                && Character.isHighSurrogate(text.charAt(index - 1))
                && Character.isLowSurrogate(text.charAt(index));
        return within ? index - 1 : index;
    }
}
