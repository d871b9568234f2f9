package dev.sandglass.egress.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a body ends, however its bytes come. */
class BodyEndTest {

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** How many bytes belong to the body if they come in pieces of that size. */
    private static int taken(BodyLength length, String text, int piece) throws Refusal {
        BodyEnd end = new BodyEnd(length);
        byte[] all = bytes(text);
        int sum = 0;
        for (int at = 0; at < all.length && !end.isReached(); at += piece) {
            sum += end.accept(Arrays.copyOfRange(all, at, Math.min(all.length, at + piece)));
        }
        assertThat(end.isReached()).isTrue();
        return sum;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 1000})
    void wholeBodies(int piece) throws Refusal {
        assertThat(taken(new BodyLength.Exactly(5), "12345GET /", piece)).isEqualTo(5);
        String simple = "5\r\nhello\r\n0\r\n\r\n";
        assertThat(taken(new BodyLength.Chunked(), simple + "GET /", piece)).isEqualTo(simple.length());
        String trailer = "0a\r\n0123456789\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n";
        assertThat(taken(new BodyLength.Chunked(), trailer + "GET /", piece)).isEqualTo(trailer.length());
    }

    @Test
    void noBody() throws Refusal {
        BodyEnd end = new BodyEnd(new BodyLength.Exactly(0));
        assertThat(end.isReached()).isTrue();
        assertThat(end.accept(bytes("GET /"))).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\r\n",
                "g\r\n",
                "-1\r\n",
                "5;name=value\r\n",
                "5 \r\n",
                "5\n",
                "5\rx",
                "0x5\r\n",
                "00000000001\r\n",
                "2\r\nabc",
                "2\r\nab\n",
                "2\r\nab\rx",
                "0\r\n\n",
                "0\r\nX: 1\n"
            })
    void chunksThatTwoProgramsCouldReadDifferently(String text) {
        BodyEnd end = new BodyEnd(new BodyLength.Chunked());
        assertThatExceptionOfType(Refusal.class).isThrownBy(() -> end.accept(bytes(text)));
    }

    @Test
    void theTrailerIsBounded() throws Refusal {
        BodyEnd end = new BodyEnd(new BodyLength.Chunked());
        end.accept(bytes("0\r\n" + "x".repeat(8 * 1024)));
        assertThatExceptionOfType(Refusal.class).isThrownBy(() -> end.accept(bytes("x")));
    }
}
