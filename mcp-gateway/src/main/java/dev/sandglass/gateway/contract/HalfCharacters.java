package dev.sandglass.gateway.contract;

/** Unpaired surrogates: JSON can write them, and many readers refuse a whole message for one. */
final class HalfCharacters {

    private HalfCharacters() {}

    /** Character by character: a pattern takes ten times as long, which tells in the upload of a large file. */
    static boolean noneIn(String text) {
        for (int at = 0; at < text.length(); at++) {
            char unit = text.charAt(at);
            if (Character.isSurrogate(unit)) {
                if (Character.isLowSurrogate(unit)
                        || at + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(at + 1))) {
                    return false;
                }
                at++;
            }
        }
        return true;
    }
}
