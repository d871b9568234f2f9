package dev.sandglass.gateway.testing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32;

/**
 * Text of all planes of Unicode, controls and halves of characters among it, up to 64 Ki characters long. It follows from a
 * message of {@link Fuzz}: the same message gives the same text, so that the file of a finding shows it again.
 */
public final class AnyText {

    private static final int LONG = 64 * 1024;
    private static final String SPECIAL =
            "\u0000\t\n\u000b\f\r\u001b\u001c\u0085\u009b\u00a0\u00ad\u200b\u200f\u2028\u2029\u202e\u2066\u2800\u3000\u3164"
                    + "\ufe0f\ufeff\ufffd\uffff\\\"'/{}[]u$";

    private final RandomGenerator dice;
    private final String said;

    private AnyText(RandomGenerator dice, String said) {
        this.dice = dice;
        this.said = said;
    }

    /** What follows from that message. */
    public static AnyText of(List<byte[]> message) {
        CRC32 seed = new CRC32();
        message.forEach(seed::update);
        String said = message.isEmpty() ? "" : new String(message.getLast(), StandardCharsets.UTF_8);
        return new AnyText(new SplittableRandom(seed.getValue()), said.substring(0, Math.min(said.length(), LONG)));
    }

    /** For everything else that is to follow from the message. */
    public RandomGenerator dice() {
        return dice;
    }

    /** The next text: the message's last frame with letters of any kind around it, or letters alone. */
    public String next() {
        StringBuilder text = new StringBuilder(dice.nextInt(3) == 0 ? said : "");
        for (int left = length(); left > 0; left--) {
            text.insert(dice.nextInt(8) == 0 ? dice.nextInt(text.length() + 1) : text.length(), letter());
        }
        return text.toString();
    }

    /** The same without halves of characters, as every text is that came in UTF-8. */
    public String whole() {
        return new String(next().getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private int length() {
        return switch (dice.nextInt(40)) {
            case 0 -> LONG / 2;
            case 1, 2, 3 -> dice.nextInt(2000);
            default -> dice.nextInt(40);
        };
    }

    /** One character, or half of one. */
    private String letter() {
        return Character.toString(
                switch (dice.nextInt(8)) {
                    case 0 -> dice.nextInt(0xa0);
                    case 1 -> SPECIAL.charAt(dice.nextInt(SPECIAL.length()));
                    case 2 -> dice.nextInt(0xd800, 0xe000);
                    case 3 -> dice.nextInt(0x2000, 0x2070);
                    case 4 -> dice.nextInt(0x10000);
                    case 5 -> dice.nextInt(0xe0000, 0xe0200);
                    case 6 -> dice.nextInt(0x10000, Character.MAX_CODE_POINT + 1);
                    default -> dice.nextInt(' ', 0x7f);
                });
    }
}
