package dev.sandglass.api.watch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JSON stays the same JSON, however it comes. */
class AsciiJsonTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 7, 4096, 5_000_000})
    void everyCharacterOfUnicodeStays(int chunk) throws Exception {
        String text = IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
                .filter(letter -> letter > 0xFFFF || !Character.isSurrogate((char) letter))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();

        assertThat(read(JSON.writeValueAsBytes(text), chunk)).isEqualTo(text);
    }

    @Test
    void aCharacterIsWholeWhereverTheChunksEnd() throws Exception {
        String text = "caf\u00e9 \u6f22\u5b57 \ud83c\udf27 \u2026";
        byte[] json = JSON.writeValueAsBytes(text);

        for (int first = 0; first <= json.length; first++) {
            for (int second = first; second <= json.length; second++) {
                AsciiJson stream = new AsciiJson();
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                take(all, stream.escape(ByteBuffer.wrap(json, 0, first)));
                take(all, stream.escape(ByteBuffer.wrap(json, first, second - first)));
                take(all, stream.escape(ByteBuffer.wrap(json, second, json.length - second)));
                assertThat(JSON.readValue(all.toByteArray(), String.class)).isEqualTo(text);
            }
        }
    }

    @Test
    void eachChunkHoldsNothingButItsText() {
        ByteBuffer ascii =
                new AsciiJson().escape(ByteBuffer.wrap("\"\u00e9\u00e9\u00e9\"\n".getBytes(StandardCharsets.UTF_8)));

        // What the client does with it.
        char[] text = StandardCharsets.UTF_8.decode(ascii).array();

        assertThat(new String(text)).isEqualTo("\"\\u00e9\\u00e9\\u00e9\"\n");
    }

    @Test
    void theGivenChunkIsNotChanged() {
        for (String text : new String[] {"plain", "caf\u00e9"}) {
            ByteBuffer chunk = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            ByteBuffer before = chunk.duplicate();

            new AsciiJson().escape(chunk);

            assertThat(chunk).isEqualTo(before);
        }
    }

    /** What is no UTF-8 becomes U+FFFD, as with every reader, and the stream goes on. */
    @Test
    void anyBytesBecomeAsciiAndTheTextBehindThemStays() {
        Random random = new Random(22);
        for (int turn = 0; turn < 2000; turn++) {
            byte[] noise = new byte[random.nextInt(64)];
            random.nextBytes(noise);
            byte[] bytes = ByteBuffer.allocate(noise.length + 4)
                    .put(noise)
                    .put("\n{}\n".getBytes(StandardCharsets.US_ASCII))
                    .array();

            byte[] ascii = escaped(bytes, 1 + random.nextInt(8));

            assertThat(new String(ascii, StandardCharsets.ISO_8859_1))
                    .endsWith("\n{}\n")
                    .matches("[\\x00-\\x7f]*");
        }
    }

    private static String read(byte[] json, int chunk) throws JsonProcessingException {
        return JSON.readValue(new String(escaped(json, chunk), StandardCharsets.ISO_8859_1), String.class);
    }

    private static byte[] escaped(byte[] json, int chunk) {
        AsciiJson stream = new AsciiJson();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int from = 0; from < json.length; from += chunk) {
            take(all, stream.escape(ByteBuffer.wrap(json, from, Math.min(chunk, json.length - from))));
        }
        return all.toByteArray();
    }

    private static void take(ByteArrayOutputStream all, ByteBuffer chunk) {
        while (chunk.hasRemaining()) {
            all.write(chunk.get());
        }
    }
}
