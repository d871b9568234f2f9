package dev.sandglass.gateway.contract;

import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/**
 * What came out of a sandbox and, behind a line of its own, what the gateway says of it; before it, if it did not go well,
 * a line in brackets that says so. No output has the one: what looks like it gets a mark in front. None stands in the other's
 * place: output that begins like it has the line {@code [ok]} in front. So a program cannot speak in the gateway's name.
 * Pure.
 */
public final class FencedText {

    /** Everything below it is the gateway's. */
    public static final String FENCE = "--- sandglass ---";

    /** The line in front of output that went well, where there has to be one. */
    private static final String WELL = "[ok]";

    private static final String MARK = "| ";
    private static final String NAME = "sandglass";

    private FencedText() {}

    /** Output with notes; empty ones are left out. */
    public static String of(String output, List<String> notes) {
        return of("", output, notes);
    }

    /**
     * The same with a line in front, for what a reader has to know first.
     *
     * @param head one line that begins with a bracket; empty for none, unless the output looks as if it had one
     */
    public static String of(String head, String output, List<String> notes) {
        String shown = marked(output);
        String first = head.isEmpty() && looksLikeHead(shown) ? WELL : head.replace('\n', ' ');
        String begun = first.isEmpty() || shown.isEmpty() ? first + shown : joined(first, shown);
        List<String> told = notes.stream().filter(note -> !note.isEmpty()).toList();
        return told.isEmpty() ? begun : joined(joined(begun, FENCE), String.join("\n", told));
    }

    /** A text that this class made, with one more note. */
    public static String and(String text, String note) {
        boolean fenced = text.startsWith(FENCE + "\n") || text.contains("\n" + FENCE + "\n");
        return joined(fenced ? text : joined(text, FENCE), note);
    }

    private static String joined(String text, String more) {
        return text + (text.isEmpty() || text.endsWith("\n") ? "" : "\n") + more;
    }

    private static String marked(String output) {
        StringBuilder marked = null;
        int copied = 0;
        int begin = 0;
        while (begin < output.length()) {
            int end = begin;
            while (end < output.length() && !isLineBreak(output.charAt(end))) {
                end++;
            }
            if (looksLikeFence(output, begin, end)) {
                marked = marked == null ? new StringBuilder(output.length() + MARK.length()) : marked;
                marked.append(output, copied, begin).append(MARK);
                copied = begin;
            }
            begin = end + 1;
        }
        return marked == null
                ? output
                : marked.append(output, copied, output.length()).toString();
    }

    /** What some reader takes for one, as Python's {@code splitlines} does. */
    private static boolean isLineBreak(char unit) {
        return unit < ' '
                ? (unit >= '\n' && unit <= '\r') || (unit >= '\u001c' && unit <= '\u001e')
                : unit == '\u0085' || unit == '\u2028' || unit == '\u2029';
    }

    /** Whether what shows first is a bracket with a letter behind it, in whatever typeface. */
    private static boolean looksLikeHead(String output) {
        int bracket = shows(output, 0);
        return isNormally(output, bracket, character -> character == '[')
                && isNormally(output, shows(output, bracket + 1), Character::isLetter);
    }

    /** Where the next character is that takes place and ink. */
    private static int shows(String text, int from) {
        int at = from;
        while (at < text.length() && isHidden(text.codePointAt(at))) {
            at += Character.charCount(text.codePointAt(at));
        }
        return at;
    }

    private static boolean isHidden(int character) {
        return Character.isWhitespace(character)
                || Character.isSpaceChar(character)
                || switch (Character.getType(character)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.SURROGATE,
                            Character.UNASSIGNED,
                            Character.PRIVATE_USE,
                            Character.NON_SPACING_MARK,
                            Character.ENCLOSING_MARK -> true;
                    default -> false;
                };
    }

    private static boolean isNormally(String text, int at, IntPredicate kind) {
        return at < text.length()
                && kind.test(Normalizer.normalize(Character.toString(text.codePointAt(at)), Normalizer.Form.NFKC)
                        .codePointAt(0));
    }

    /** Whether the letters of that line are those of the fence, in whatever case or typeface. */
    private static boolean looksLikeFence(String text, int begin, int end) {
        StringBuilder letters = new StringBuilder();
        for (int at = begin; at < end && letters.length() <= NAME.length(); ) {
            int letter = text.codePointAt(at);
            at += Character.charCount(letter);
            if (Character.isLetter(letter)) {
                letters.append(Normalizer.normalize(Character.toString(letter), Normalizer.Form.NFKC));
            }
        }
        return letters.toString().toLowerCase(Locale.ROOT).equals(NAME);
    }
}
