package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** What a text may be that comes out, whatever went in. */
public final class TextOracle {

    /** What no sentence of ours has, whoever wrote a part of it. */
    private static final Pattern UNSEEN = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}&&[^\n]]");

    private TextOracle() {}

    /** A sentence of ours: all of it shows. */
    public static void isOurs(String words) {
        assertThat(UNSEEN.matcher(words).results().map(found -> "U+%04X"
                        .formatted((int) found.group().charAt(0))))
                .as(words)
                .isEmpty();
    }

    /** It may say anything, but every client can read it. */
    public static void canBeRead(String text) {
        assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(text)).as(text).isTrue();
    }

    /** Answers are cut where they are long; this says of any length whether it is the same. */
    public static String digest(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
