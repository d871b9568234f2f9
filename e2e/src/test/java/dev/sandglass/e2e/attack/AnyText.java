package dev.sandglass.e2e.attack;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Text of all planes of Unicode, controls and marks of direction among it; the same seed gives the same text.
 * {@code -Dsandglass.fuzz.rounds=N} makes more of it, {@code -Dsandglass.fuzz.seed=N} repeats it.
 */
final class AnyText {

    static final int ROUNDS = Integer.getInteger("sandglass.fuzz.rounds", 1);
    static final long SEED = Long.getLong("sandglass.fuzz.seed", 22);

    /** Of two bytes each, 64 Ki times. */
    static final String LONG = "\u00e9".repeat(64 * 1024);

    /** What came near to breaking something once. */
    static final List<String> CLASSIC = List.of(
            "café",
            "漢字…\u2028\u2029",
            "\ud83c\udf27\udbff\udfff\ufffe\ufffd",
            "\u0001\u001b[31m\u001b]8;;x\u0007\u0085\u009b\u202e\u2066\u200b\u007f\ufeff",
            "$(SANDGLASS_LINK_SECRET_KEY)$$(HOME)$",
            "'\"\\\r\n\t%s{}[]#&*!|>-: @`");

    private static final String NAMES = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

    private final Random random = new Random(SEED);

    /** Without NUL and halves of characters, which neither variables nor UTF-8 can carry. */
    String next(int most) {
        return random.ints()
                .map(number -> switch (number & 3) {
                    case 0 -> 1 + (number >>> 2) % 0x9f;
                    case 1 -> 0x80 + (number >>> 2) % 0x2000;
                    case 2 -> 0x2000 + (number >>> 2) % 0xe000;
                    default -> 0x10000 + (number >>> 2) % 0x100000;
                })
                .filter(letter -> letter < 0xd800 || letter > 0xdfff)
                .limit(1 + random.nextInt(most))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** The classic ones and that many more. */
    List<String> some(int more, int most) {
        List<String> texts = new ArrayList<>(CLASSIC);
        IntStream.range(0, more).forEach(_ -> texts.add(next(most)));
        return texts;
    }

    /** The same, each with a letter that is not ASCII: a single letter by chance would be a name. */
    List<String> beyondAscii(int more, int most) {
        return some(more, most).stream().map(text -> text + "é").toList();
    }

    /** What is a name for a variable, and the value of a label. */
    String name(int most) {
        return random.ints(1 + random.nextInt(most), 0, NAMES.length())
                .collect(StringBuilder::new, (name, at) -> name.append(NAMES.charAt(at)), StringBuilder::append)
                .toString()
                .replaceAll("^_|_$", "x");
    }
}
