package dev.sandglass.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Makes bad messages out of good ones: the same dice and corpus give the same messages. */
public final class FrameMutator implements Supplier<List<byte[]>> {

    private static final int MOST_BYTES = 2 * 1024 * 1024;
    private static final String HOLE = "@hole@";
    private static final int[] SPANS = {1, 1, 2, 8, 64, 4096};
    private static final int[] CHANGES = {1, 1, 1, 2, 3, 8};

    private static final List<byte[]> TOKENS = Stream.of(
                    "null true -1 0 1e999 -0.0 NaN \"\" {} [] 1.5 \"1\" 2.0 9223372036854775807 9223372036854775808",
                    "-9223372036854775809 1e-400 1E30 \"\\ud800\" \"\\udc00\\ud800\" \"\\u0000\" \"\\ud83d\\ude00\"",
                    "[1,2,3] {\"a\":1,\"a\":2} \"../../etc/passwd\" \"a=b\" \"2.0\" \"*\" 64Mi \"1e9Gi\" \u001b[2K",
                    "9".repeat(19) + " " + "9".repeat(64) + " " + "9".repeat(65) + " " + "9".repeat(1001),
                    "[".repeat(100) + "]".repeat(100) + " " + "{\"a\":".repeat(600) + "1" + "}".repeat(600),
                    "\"" + "x".repeat(5000) + "\"",
                    "\"" + "x".repeat(99) + "😀\"",
                    "\"" + "x".repeat(62) + "😀\"")
            .flatMap(line -> Arrays.stream(line.split(" ")))
            .map(token -> token.getBytes(StandardCharsets.UTF_8))
            .toList();
    private static final List<byte[]> BYTES = Stream.concat(
                    Stream.of(
                                    "\0", "\n", "\r", "\r\n", " ", "\b", "\u0007", "\u001b[", "\u001b]", "\u009b", "K",
                                    "😀", "é")
                            .map(text -> text.getBytes(StandardCharsets.UTF_8)),
                    Stream.of(
                                    "\u00c0\u0080",
                                    "\u00ed\u00a0\u0080",
                                    "\u00f0\u009f\u0098",
                                    "\u00ef\u00bb\u00bf",
                                    "\u00ff")
                            .map(text -> text.getBytes(StandardCharsets.ISO_8859_1)))
            .toList();

    private final RandomGenerator dice;
    private final List<List<byte[]>> corpus;
    private final JsonMapper json = JsonMapper.shared();

    /** Makes them of that corpus. */
    public FrameMutator(RandomGenerator dice, List<List<byte[]>> corpus) {
        this.dice = dice;
        this.corpus = corpus;
    }

    /** The next message: mostly one change, sometimes many. */
    @Override
    public List<byte[]> get() {
        var frames = new ArrayList<>(one(corpus));
        for (int left = CHANGES[dice.nextInt(CHANGES.length)]; left > 0; left--) {
            if (frames.stream().mapToInt(frame -> frame.length).sum() > MOST_BYTES) {
                break;
            }
            if (dice.nextInt(5) == 0) {
                shuffle(frames);
            } else if (!frames.isEmpty()) {
                int index = dice.nextInt(frames.size());
                frames.set(index, changed(frames.get(index)));
            }
        }
        return frames;
    }

    /** Frames missing, added or in another order. */
    private void shuffle(List<byte[]> frames) {
        int place = dice.nextInt(frames.size() + 1);
        switch (dice.nextInt(4)) {
            case 0 -> frames.add(place, one(BYTES));
            case 1 -> frames.add(place, frames.isEmpty() ? new byte[0] : one(frames));
            case 2 -> {
                if (place < frames.size()) {
                    frames.remove(place);
                }
            }
            default -> {
                if (place < frames.size()) {
                    Collections.swap(frames, place, dice.nextInt(frames.size()));
                }
            }
        }
    }

    private byte[] changed(byte[] frame) {
        if (frame.length > 0 && (frame[0] == '{' || frame[0] == '[') && dice.nextInt(5) < 3) {
            return changedJson(frame);
        }
        int start = dice.nextInt(frame.length + 1);
        int end = Math.min(frame.length, start + SPANS[dice.nextInt(SPANS.length)]);
        return switch (dice.nextInt(6)) {
            case 0 -> flipped(frame, start);
            case 1 -> joined(frame, start, one(BYTES), start);
            case 2 -> joined(frame, start, dice.nextBoolean() ? one(BYTES) : one(TOKENS), end);
            case 3 -> joined(frame, start, new byte[0], end);
            case 4 -> joined(frame, end, repeated(Arrays.copyOfRange(frame, start, end)), end);
            default -> joined(frame, start, one(one(corpus)), frame.length);
        };
    }

    private byte[] flipped(byte[] frame, int at) {
        byte[] copy = frame.clone();
        if (at < copy.length) {
            copy[at] = (byte) (copy[at] ^ 1 << dice.nextInt(8));
        }
        return copy;
    }

    private byte[] repeated(byte[] span) {
        var all = new ByteArrayOutputStream();
        for (int left = dice.nextBoolean() ? 1 : 100; left > 0; left--) {
            all.writeBytes(span);
        }
        return all.toByteArray();
    }

    private static byte[] joined(byte[] frame, int head, byte[] middle, int tail) {
        var all = new ByteArrayOutputStream(frame.length + middle.length);
        all.write(frame, 0, head);
        all.writeBytes(middle);
        all.write(frame, tail, frame.length - tail);
        return all.toByteArray();
    }

    /** One value, name or entry of a JSON text is another. */
    private byte[] changedJson(byte[] frame) {
        JsonNode root;
        try {
            root = json.readTree(frame);
        } catch (JacksonException notJson) {
            return Arrays.copyOf(frame, frame.length - 1);
        }
        List<JsonNode> holders = new ArrayList<>();
        collect(root, holders);
        if (holders.isEmpty()) {
            return one(TOKENS);
        }
        JsonNode holder = one(holders);
        if (holder instanceof ObjectNode object) {
            String name = one(List.copyOf(object.propertyNames()));
            JsonNode value = dice.nextInt(4) == 0 ? object.remove(name) : object.get(name);
            object.put(dice.nextInt(4) == 0 ? name + "x" : name, HOLE);
            if (dice.nextInt(4) == 0) {
                object.set(name, value);
            }
        } else if (holder instanceof ArrayNode array) {
            array.set(dice.nextInt(array.size()), HOLE);
        }
        String text = json.writeValueAsString(root);
        int hole = text.indexOf('"' + HOLE + '"');
        byte[] whole = text.getBytes(StandardCharsets.UTF_8);
        int at = hole < 0 ? 0 : text.substring(0, hole).getBytes(StandardCharsets.UTF_8).length;
        return hole < 0 ? whole : joined(whole, at, one(TOKENS), at + HOLE.length() + 2);
    }

    private static void collect(JsonNode node, List<JsonNode> holders) {
        if (!node.isEmpty()) {
            holders.add(node);
            node.forEach(inner -> collect(inner, holders));
        }
    }

    private <T> T one(List<T> of) {
        return of.get(dice.nextInt(of.size()));
    }
}
