package dev.sandglass.gateway.contract;

import java.text.Normalizer;
import java.util.List;
import java.util.Locale;

/**
 * What came out of a sandbox and, behind a line of its own, what the gateway says of it. No output has that line: one that
 * looks like it gets a mark in front, so that a program cannot speak in the gateway's name. Without notes there is no such
 * line, and the text is the output. Pure.
 */
public final class FencedText {

    /** Everything below it is the gateway's. */
    public static final String FENCE = "--- sandglass ---";

    private static final String MARK = "| ";
    private static final String NAME = "sandglass";
    private static final String LINE_BREAKS = "\n\r\u000b\f\u001c\u001d\u001e\u0085\u2028\u2029";

    private FencedText() {}

    /** Output with notes; empty ones are left out. */
    public static String of(String output, List<String> notes) {
        String shown = marked(output);
        List<String> told = notes.stream().filter(note -> !note.isEmpty()).toList();
        return told.isEmpty() ? shown : joined(joined(shown, FENCE), String.join("\n", told));
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
            while (end < output.length() && LINE_BREAKS.indexOf(output.charAt(end)) < 0) {
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
