package dev.sandglass.gateway.contract;

/** Shortens a text to its begin and its end, where mistakes show. Pure. */
public final class MiddleCut {

    private static final String MARK = "\n[... %d characters left out ...]\n";

    /** Of the mark with the longest number. */
    private static final int MARK_CHARS = 50;

    private MiddleCut() {}

    /** At most so many characters of a text, a mark included; no character is cut in half. */
    public static String of(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        int half = Math.max(0, most - MARK_CHARS) / 2;
        int begin = half > 0 && Character.isHighSurrogate(text.charAt(half - 1)) ? half - 1 : half;
        int end = text.length() - half;
        if (end < text.length() && Character.isLowSurrogate(text.charAt(end))) {
            end++;
        }
        return text.substring(0, begin) + MARK.formatted(end - begin) + text.substring(end);
    }
}
