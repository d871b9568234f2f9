package dev.sandglass.gateway.contract;

import java.text.Normalizer;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What came out of a sandbox and, behind a line of its own, what the gateway says of it; before it, if it did not go well,
 * a line in brackets that says so. No output has the one or begins with the other: what looks like them gets a mark in front,
 * so that a program cannot speak in the gateway's name. Without notes there is no such line, and the text is the output.
 * Pure.
 */
public final class FencedText {

    /** Everything below it is the gateway's. */
    public static final String FENCE = "--- sandglass ---";

    /** What looks like a line in front. */
    private static final Pattern HEAD = Pattern.compile("\\s*\\[(ok|error|timeout|interrupted|running|kernel_died"
            + "|oom_killed|rejected|env_error|lost|exit code|new sandbox)\\b");

    private static final String MARK = "| ";
    private static final String NAME = "sandglass";
    private static final String LINE_BREAKS = "\n\r\u000b\f\u001c\u001d\u001e\u0085\u2028\u2029";

    private FencedText() {}

    /** Output with notes; empty ones are left out. */
    public static String of(String output, List<String> notes) {
        return of("", output, notes);
    }

    /**
     * The same with a line in front, for what a reader has to know first.
     *
     * @param head lines that each begin with a bracket; empty for none
     */
    public static String of(String head, String output, List<String> notes) {
        String shown = HEAD.matcher(output).lookingAt() ? MARK + marked(output) : marked(output);
        String begun = head.isEmpty() || shown.isEmpty() ? head + shown : joined(head, shown);
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
