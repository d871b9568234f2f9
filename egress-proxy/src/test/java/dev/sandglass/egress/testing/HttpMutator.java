package dev.sandglass.egress.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/** Makes bad messages out of good ones: the same dice and corpus give the same messages. */
public final class HttpMutator implements Supplier<List<byte[]>> {

    private static final int[] CHANGES = {1, 1, 1, 2, 3, 8};
    private static final int[] SPANS = {1, 1, 2, 8, 64};
    private static final List<byte[]> TOKENS = Stream.of(
                    "\r\n",
                    "\n",
                    "\r",
                    "\0",
                    "\t",
                    " ",
                    ":",
                    ":443",
                    ".",
                    "..",
                    "*",
                    "*.",
                    "@",
                    "%00",
                    "[",
                    "]",
                    "/",
                    "\\",
                    "::ffff:",
                    "::1",
                    "127.1",
                    "0x7f",
                    "example.com",
                    "evil.com",
                    "Host: evil.com\r\n",
                    "Content-Length: 5\r\n",
                    "Transfer-Encoding: chunked\r\n",
                    "Transfer-Encoding : chunked\r\n",
                    "\r\n GET / HTTP/1.1\r\n\r\n",
                    "Connection: host\r\n",
                    "0\r\n\r\n",
                    "\u00ff",
                    "é",
                    "xn--",
                    "\u0016\u0003\u0001")
            .map(token -> token.getBytes(StandardCharsets.ISO_8859_1))
            .toList();

    private final RandomGenerator dice;
    private final List<List<byte[]>> corpus;

    /** Makes them of that corpus. */
    public HttpMutator(RandomGenerator dice, List<List<byte[]>> corpus) {
        this.dice = dice;
        this.corpus = corpus;
    }

    /** The next message: mostly one change, sometimes many. */
    @Override
    public List<byte[]> get() {
        List<byte[]> message = new ArrayList<>(corpus.get(dice.nextInt(corpus.size())));
        int changes = CHANGES[dice.nextInt(CHANGES.length)];
        for (int i = 0; i < changes; i++) {
            int part = dice.nextInt(message.size());
            message.set(part, changed(message.get(part)));
        }
        return message;
    }

    private byte[] changed(byte[] part) {
        int at = dice.nextInt(part.length + 1);
        int end = Math.min(part.length, at + SPANS[dice.nextInt(SPANS.length)]);
        byte[] span = Arrays.copyOfRange(part, at, end);
        return switch (dice.nextInt(6)) {
            case 0 -> joined(Arrays.copyOf(part, at), TOKENS.get(dice.nextInt(TOKENS.size())), from(part, at));
            case 1 -> joined(Arrays.copyOf(part, at), TOKENS.get(dice.nextInt(TOKENS.size())), from(part, end));
            case 2 -> joined(Arrays.copyOf(part, at), from(part, end));
            case 3 -> joined(Arrays.copyOf(part, end), span, from(part, end));
            case 4 -> Arrays.copyOf(part, at);
            default -> {
                for (int i = 0; i < span.length; i++) {
                    span[i] = (byte) (dice.nextBoolean() ? span[i] ^ (1 << dice.nextInt(8)) : dice.nextInt(256));
                }
                yield joined(Arrays.copyOf(part, at), span, from(part, end));
            }
        };
    }

    private static byte[] from(byte[] part, int at) {
        return Arrays.copyOfRange(part, at, part.length);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
