package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Utf8StreamTest {

    private static final String TEXT = "a\u0000é\u07ff\u0800€\uffff😀𐀀\udbff\udfffz";

    @Test
    void textSurvivesBeingCutAnywhere() {
        byte[] bytes = TEXT.getBytes(StandardCharsets.UTF_8);
        for (int size = 1; size <= bytes.length; size++) {
            Utf8Stream stream = new Utf8Stream();
            StringBuilder text = new StringBuilder();
            for (int at = 0; at < bytes.length; at += size) {
                text.append(stream.decode(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + size))));
                assertThat(stream.pending()).isBetween(0, 3);
            }
            assertThat(text + stream.finish()).isEqualTo(TEXT);
        }
    }

    @Test
    void whatIsCutShortAtTheEndIsOneReplacementCharacter() {
        Utf8Stream stream = new Utf8Stream();
        assertThat(stream.decode(new byte[] {'a', (byte) 0xf0, (byte) 0x9f})).isEqualTo("a");
        assertThat(stream.pending()).isEqualTo(2);
        assertThat(stream.finish()).isEqualTo("\ufffd");
        assertThat(stream.pending()).isZero();
    }

    @Test
    void rubbishIsDecodedAsIfItHadComeAtOnce() {
        Random random = new Random(7);
        for (int i = 0; i < 5_000; i++) {
            byte[] bytes = new byte[random.nextInt(12)];
            random.nextBytes(bytes);
            int cut = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
            Utf8Stream stream = new Utf8Stream();
            String text = stream.decode(Arrays.copyOf(bytes, cut))
                    + stream.decode(Arrays.copyOfRange(bytes, cut, bytes.length))
                    + stream.finish();
            assertThat(text).isEqualTo(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    @Test
    void lengthIsThatOfTheEncodedText() {
        assertThat(Utf8Stream.length(TEXT, 0, TEXT.length())).isEqualTo(TEXT.getBytes(StandardCharsets.UTF_8).length);
    }
}
