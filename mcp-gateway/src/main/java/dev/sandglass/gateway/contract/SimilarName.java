package dev.sandglass.gateway.contract;

import java.util.Comparator;
import java.util.Optional;
import java.util.Set;

/** Finds the name that a misspelt one stands for. Pure. */
final class SimilarName {

    /** Longer ones are no slips of the pen. */
    private static final int MAX_CHARS = 40;

    private static final int MOST_EDITS = 2;

    private SimilarName() {}

    /** The nearest of the known names, if at most two letters are missing, too many or others. */
    static Optional<String> among(Set<String> known, String given) {
        if (given.length() > MAX_CHARS || given.length() <= MOST_EDITS) {
            return Optional.empty();
        }
        return known.stream()
                .filter(name -> edits(name, given) <= MOST_EDITS)
                .min(Comparator.<String>comparingInt(name -> edits(name, given))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** How many letters are to be put in, taken out or replaced (Levenshtein's distance). */
    private static int edits(String one, String other) {
        int[] before = new int[other.length() + 1];
        for (int column = 0; column <= other.length(); column++) {
            before[column] = column;
        }
        for (int row = 1; row <= one.length(); row++) {
            int[] now = new int[other.length() + 1];
            now[0] = row;
            for (int column = 1; column <= other.length(); column++) {
                int replaced = before[column - 1] + (one.charAt(row - 1) == other.charAt(column - 1) ? 0 : 1);
                now[column] = Math.min(replaced, Math.min(before[column], now[column - 1]) + 1);
            }
            before = now;
        }
        return before[other.length()];
    }
}
