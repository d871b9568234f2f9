package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.testing.AnyText;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whatever code and authors of resources say: where it stands among our words, it is seen, and it is not taken for ours. */
class WordsFuzzTest {

    // The names of fields are as long as any text here.
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNameLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .build();
    private static final int MOST = 300;

    /** What Unicode says moves, turns or does not show, blanks aside. */
    private static final Pattern UNSEEN = Pattern.compile(
            "[\\p{C}\\p{Zl}\\p{Zp}[\\p{Zs}&&[^ ]]\\x{34f}\\x{115f}\\x{1160}\\x{17b4}"
                    + "\\x{17b5}\\x{180b}-\\x{180f}\\x{2800}\\x{3164}\\x{fe00}-\\x{fe0f}\\x{ffa0}\\x{e0000}-\\x{e0fff}]");

    private static final Pattern LINE_BREAK = Pattern.compile("[\n\r\u000b\f\u001c\u001d\u001e\u0085\u2028\u2029]");
    private static final List<String> NOTES = List.of("[warning] Ours.", "");

    private static List<List<byte[]>> corpus() {
        return Stream.of(
                        "plain words",
                        "caf\u00e9 \u4f60\u597d \ud83d\ude00…",
                        "a\u001b[31mred\u001b]8;;x\u0007\r\n[ok] Error: ours\u2028b\u0085c",
                        "a\u202egpj.exe\u2066\u200b\ufeff\udb40\udc41",
                        "--- sandglass ---\n[warning] Theirs.\n")
                .map(text -> List.of(text.getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    @Test
    void anyTextOnALineOfOurs() throws IOException {
        Fuzz.attack(FrameMutator::new, "words", corpus(), message -> {
            AnyText texts = AnyText.of(message);
            String text = texts.next();
            String all = ForeignText.line(text, Integer.MAX_VALUE);
            isSeen(all);
            assertThat(all).isEqualTo(all.strip()).isEqualTo(ForeignText.line(all, all.length()));
            assertThat(all.replace(" ", ""))
                    .isEqualTo(UNSEEN.matcher(text).replaceAll("").replace(" ", ""));
            for (int most : new int[] {0, 1, 2, texts.dice().nextInt(MOST), Math.max(0, all.length() - 1)}) {
                isBegin(ForeignText.line(text, most), all, most);
                isEnd(ForeignText.end(text, most), all, most);
                assertThat(ForeignText.ascii(text, most)).matches("[ -~]{0,%d}…?".formatted(most));
            }
        });
    }

    @Tag("slow")
    @Test
    void anyNameAmongOurWords() throws IOException {
        Fuzz.attack(FrameMutator::new, "name", corpus(), message -> {
            AnyText texts = AnyText.of(message);
            String name = texts.next();
            isSeen(ForeignText.name(name));
            isSeen(ForeignText.quoted(name));
            assertThat(ForeignText.name(name).equals(name) ? name : unquoted(ForeignText.name(name)))
                    .isEqualTo(name);
            JsonNode tree =
                    JSON.valueToTree(Map.of("a", List.of(texts.whole(), texts.whole()), "b" + texts.whole(), 1));
            String json = ForeignText.json(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(tree));
            json.lines().forEach(WordsFuzzTest::isSeen);
            assertThat(JSON.readTree(json)).isEqualTo(tree);
        });
    }

    @Tag("slow")
    @Test
    void anyOutputAboveOurNotes() throws IOException {
        Fuzz.attack(FrameMutator::new, "fence", corpus(), message -> {
            AnyText texts = AnyText.of(message);
            String before = texts.next();
            String forged = forged(texts);
            String output = before + "\u2028" + forged + "\n" + texts.next();
            String bare = FencedText.of(output, List.of());
            assertThat(bare).contains("\u2028| " + forged + "\n");
            // Output that begins like a line of ours has one of ours in front.
            assertThat(withoutMarks(bare.startsWith("[ok]\n") ? bare.substring(5) : bare))
                    .isEqualTo(withoutMarks(output));

            String noted = FencedText.and(FencedText.of(output, NOTES), "Ours, too.");
            String ours = FencedText.FENCE + "\n" + NOTES.getFirst() + "\nOurs, too.";
            assertThat(noted).isEqualTo(bare + (bare.endsWith("\n") ? "" : "\n") + ours);
            assertThat(LINE_BREAK.splitAsStream(noted).filter(FencedText.FENCE::equals))
                    .hasSize(1);
        });
    }

    /** A line that a reader could take for the fence: its letters, in any typeface, with anything but letters between them. */
    private static String forged(AnyText texts) {
        RandomGenerator dice = texts.dice();
        StringBuilder line = new StringBuilder();
        for (char letter : "sandglass".toCharArray()) {
            texts.whole()
                    .codePoints()
                    .limit(3)
                    .filter(WordsFuzzTest::isBetweenLetters)
                    .forEach(line::appendCodePoint);
            line.appendCodePoint(
                    switch (dice.nextInt(5)) {
                        case 0 -> Character.toUpperCase(letter);
                        case 1 -> letter - 'a' + 0xff41;
                        case 2 -> letter - 'a' + 0x1d41a;
                        case 3 -> letter - 'a' + 0x1d5d4;
                        default -> letter;
                    });
        }
        return line.toString();
    }

    private static boolean isBetweenLetters(int letter) {
        return !Character.isLetter(letter)
                && !LINE_BREAK.matcher(Character.toString(letter)).matches();
    }

    private static String withoutMarks(String text) {
        return text.replace("| ", "");
    }

    private static void isBegin(String line, String all, int most) {
        isSeen(line);
        if (all.length() <= most) {
            assertThat(line).isEqualTo(all);
        } else {
            assertThat(line).endsWith("…").hasSizeBetween(most, most + 1);
            assertThat(all).startsWith(line.substring(0, line.length() - 1));
        }
    }

    private static void isEnd(String line, String all, int most) {
        isSeen(line);
        if (all.length() <= most) {
            assertThat(line).isEqualTo(all);
        } else {
            assertThat(line).startsWith("…").hasSizeBetween(most, most + 2);
            assertThat(all).endsWith(line.substring(1));
        }
    }

    private static void isSeen(String line) {
        assertThat(UNSEEN.matcher(line).results().map(found -> "U+%04X"
                        .formatted(found.group().codePointAt(0))))
                .isEmpty();
    }

    private static String unquoted(String json) {
        assertThat(json).startsWith("\"").endsWith("\"");
        return JSON.readValue(json, String.class);
    }
}
