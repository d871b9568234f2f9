package dev.sandglass.gateway.contract;

import java.util.regex.Pattern;

/** Unpaired surrogates: JSON can write them, and many readers refuse a whole message for one. */
final class HalfCharacters {

    private static final Pattern HALF = Pattern.compile("\\p{Cs}");

    private HalfCharacters() {}

    static boolean noneIn(String text) {
        return !HALF.matcher(text).find();
    }
}
