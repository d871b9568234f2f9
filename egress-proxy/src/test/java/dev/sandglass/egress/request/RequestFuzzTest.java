package dev.sandglass.egress.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.testing.HttpMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever a sandbox sends: it is understood in one way, or refused. */
class RequestFuzzTest {

    @Test
    void heads() throws IOException {
        Fuzz.attack(
                HttpMutator::new,
                "requests",
                corpus(
                        "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
                        "CONNECT [2606:2800::1]:443 HTTP/1.0\r\nProxy-Authorization: Basic YTpi\r\n\r\n",
                        "GET http://example.com/a?b HTTP/1.1\r\nHost: example.com\r\nConnection: close, x\r\n\r\n",
                        """
                        POST http://example.com:8080/ HTTP/1.1\r
                        Host: example.com:8080\r
                        Transfer-Encoding: chunked\r
                        \r
                        """),
                RequestFuzzTest::examineHead);
    }

    @Test
    void bodies() throws IOException {
        Fuzz.attack(
                HttpMutator::new,
                "bodies",
                corpus("5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nX: y\r\n\r\n"),
                RequestFuzzTest::examineBody);
    }

    private static List<List<byte[]>> corpus(String... texts) {
        return Stream.of(texts)
                .map(text -> List.of(text.getBytes(StandardCharsets.ISO_8859_1)))
                .toList();
    }

    private static void examineHead(List<byte[]> message) {
        ProxyRequest request;
        try {
            request = ProxyRequest.of(RequestHead.parse(message.getFirst()));
        } catch (Refusal refusal) {
            assertThat(refusal.sentence()).isNotEmpty().hasSizeLessThan(500);
            return;
        }
        String target = request.target().toString();
        assertThat(target).matches("[a-z0-9.:\\[\\]-]+").isEqualTo(target.toLowerCase(Locale.ROOT));
        assertThat(Target.parse(target, OptionalInt.empty())).isEqualTo(request.target());
        if (request instanceof ProxyRequest.Forward forward) {
            examineForward(forward);
        }
    }

    /** What the server gets means to our own parser what was judged. */
    private static void examineForward(ProxyRequest.Forward forward) {
        try {
            RequestHead again = RequestHead.parse(ForwardedHead.bytes(forward.head()));
            assertThat(again).isEqualTo(forward.head());
            assertThat(BodyLength.of(again)).isEqualTo(forward.body());
            assertThat(Target.parse(again.single("Host").orElseThrow(), OptionalInt.of(80)))
                    .isEqualTo(forward.target());
        } catch (Refusal refusal) {
            throw new AssertionError("What is forwarded would be refused here", refusal);
        }
    }

    /** In one piece or byte by byte: the same end, or the same refusal. */
    private static void examineBody(List<byte[]> message) {
        byte[] all = message.getFirst();
        assertThat(end(all, Math.max(1, all.length))).isEqualTo(end(all, 1));
    }

    private static int end(byte[] all, int piece) {
        BodyEnd end = new BodyEnd(new BodyLength.Chunked());
        int sum = 0;
        try {
            for (int at = 0; at < all.length && !end.isReached(); at += piece) {
                sum += end.accept(Arrays.copyOfRange(all, at, Math.min(all.length, at + piece)));
            }
        } catch (Refusal refusal) {
            return -1;
        }
        return sum;
    }
}
