package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is left of text that writes over itself. */
class ScreenTest {

    private final StringBuilder shown = new StringBuilder();
    private final List<Long> offsets = new ArrayList<>();
    private final Screen screen = new Screen((text, offset, _) -> {
        shown.append(text);
        offsets.add(offset);
    });

    private static String unescaped(String text) {
        return text.replace("\\r", "\r")
                .replace("\\n", "\n")
                .replace("\\b", "\b")
                .replace("^", "\u001b")
                .replace("\\a", "\u0007")
                .replace("\\9", "\u009b");
    }

    /** Written and left; {@code ^} is escape. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "'a\\nb\\n' | 'a\\nb\\n'",
                "'no end' | 'no end'",
                "'\\r 0%\\r 50%\\r100%\\nnext' | '100%\\nnext'",
                "'dos\\r\\nlines\\r\\n' | 'dos\\nlines\\n'",
                "'longer\\rab\\n' | 'abnger\\n'",
                "'longer\\r^[Kab\\n' | 'ab\\n'",
                "'longer^[2K\\rab\\n' | 'ab\\n'",
                "'longer\\rab^[0K\\n' | 'ab\\n'",
                "'longer^[1Gab\\n' | 'abnger\\n'",
                "'ab^[5Gx\\n' | 'ab  x\\n'",
                "'12\\b3\\n' | '13\\n'",
                "'\\b\\bx' | 'x'",
                "'^[31mred^[0m \\91mbold' | 'red bold'",
                "'^]8;;http://x\\alink^]8;;^\\ end' | 'link end'",
                "'^]never closed\\nnext' | '\\nnext'",
                "'^[12;\\nnext' | '\\nnext'",
                "'^(Bsgr0^7' | 'sgr0'",
                "'bell\\a' | 'bell'",
                "'😀😀\\ra\\n' | 'a😀\\n'",
                "'done\\r' | 'done'",
                "'^[999999999Gx' | 'x'",
                "'ab^[5G^[2Kx' | '    x'",
            })
    void leavesTheLastState(String written, String left) {
        screen.write(unescaped(written), 0);
        screen.flush();
        assertThat(shown).hasToString(unescaped(left));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\\r 0%\\r 50%^[K\\r100%\\n^[1;31mred^[0m\\r\\nx^]0;title\\ay\\b\\bz\\nend 😀 é\\r^[2Kover"})
    void itDoesNotMatterHowTheTextIsCut(String written) {
        String text = unescaped(written);
        screen.write(text, 0);
        screen.flush();
        for (int cut = 0; cut <= text.length(); cut++) {
            if (cut > 0 && cut < text.length() && Character.isLowSurrogate(text.charAt(cut))) {
                continue;
            }
            StringBuilder again = new StringBuilder();
            Screen pieces = new Screen((piece, _, _) -> again.append(piece));
            pieces.write(text.substring(0, cut), 0);
            pieces.write(text.substring(cut), bytes(text.substring(0, cut)));
            pieces.flush();
            assertThat(again).as("cut at %d", cut).hasToString(shown.toString());
        }
    }

    @Test
    void aJumpCostsNoMoreThanATerminalsWidth() {
        for (String jump : List.of("\u001b[4095Gx\n", "\u001b[256Gx\n", "\u001b[4095G\u001b[2K\u001b[4095Gx\n")) {
            shown.setLength(0);
            String text = jump.repeat(64 * 1024 / jump.length());
            screen.write(text, 0);
            screen.flush();
            assertThat(shown.length()).as(jump).isLessThan(3_000_000);
        }
    }

    @Test
    void aJumpGoesAsFarAsATerminalIsWideOrTheLineIsLong() {
        assertThat(jumped("", Screen.WIDTH)).isEqualTo(" ".repeat(Screen.WIDTH - 1) + "x");
        assertThat(jumped("", Screen.WIDTH + 1)).isEqualTo(" ".repeat(Screen.WIDTH - 1) + "x");
        String line = "y".repeat(Screen.WIDTH + 44);
        assertThat(jumped(line + "\r", line.length())).isEqualTo(line.substring(1) + "x");
        assertThat(jumped(line + "\r", line.length() + 1)).isEqualTo(line + "x");
        assertThat(jumped(line + "\r", line.length() + 2)).isEqualTo(line + "x");
    }

    @Test
    void anErasedLineLeavesTheCursorWithinATerminalsWidth() {
        String line = "y".repeat(Screen.WIDTH + 44);
        screen.write(line + "\u001b[2Kx", 0);
        screen.flush();
        assertThat(shown).hasToString(" ".repeat(Screen.WIDTH - 1) + "x");
    }

    /** What is left of a line where an x is written to a column. */
    private static String jumped(String line, int column) {
        var left = new StringBuilder();
        Screen screen = new Screen((text, _, _) -> left.append(text));
        screen.write(line + "\u001b[%dGx".formatted(column), 0);
        screen.flush();
        return left.toString();
    }

    private static long bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    @Test
    void offsetsAreThoseOfTheLines() {
        screen.write("é\nab", 100);
        screen.write("c\r\u001b[Kx\nlast", 105);
        screen.flush();
        assertThat(shown).hasToString("é\nx\nlast");
        assertThat(offsets).containsExactly(100L, 103L, 112L);
    }

    @Test
    void aLineAtTheBoundCanBeWrittenOverAndALongerOneCannot() {
        screen.write("x".repeat(Screen.MAX_LINE - 1) + "\rab", 0);
        screen.flush();
        assertThat(shown).hasToString("ab" + "x".repeat(Screen.MAX_LINE - 3));

        shown.setLength(0);
        Screen longer = new Screen((text, _, _) -> shown.append(text));
        longer.write("x".repeat(Screen.MAX_LINE) + "y\rab\n", 0);
        longer.flush();
        assertThat(shown).hasToString("x".repeat(Screen.MAX_LINE) + "\nab\n");
    }

    @Test
    void aLongLinesEndMayBeCutBetweenReturnAndNewLine() {
        String line = "x".repeat(Screen.MAX_LINE + 1);
        screen.write(line + "\r", 0);
        screen.write("\nnext\n", line.length() + 1L);
        assertThat(shown).hasToString(line + "\nnext\n");
    }

    @Test
    void whatWasPassedOnIsFollowedByANewLine() {
        screen.write("\r10%", 0);
        screen.flush();
        screen.write("\r20%", 4);
        screen.write("\r\n", 8);
        assertThat(shown).hasToString("10%\n20%\n");
    }

    @Test
    void textWithoutCodesIsUnchangedHoweverLong() {
        var random = new Random(7);
        var whole = new StringBuilder();
        long offset = 0;
        for (int i = 0; i < 500; i++) {
            String piece = "aé€\n".repeat(random.nextInt(40)) + "x".repeat(random.nextInt(9000));
            screen.write(piece, offset);
            offset += bytes(piece);
            whole.append(piece);
        }
        screen.flush();
        assertThat(shown.toString()).isEqualTo(whole.toString());
    }

    @Tag("slow")
    @Test
    void floodsOfStatesCostNoMemoryAndLittleTime() {
        String states = "\r 50%|#####     | 1/2 [00:01<00:01]".repeat(2000);
        var began = System.nanoTime();
        for (int i = 0; i < 200; i++) {
            screen.write(states, (long) i * states.length());
        }
        screen.flush();
        assertThat(shown).hasToString(" 50%|#####     | 1/2 [00:01<00:01]");
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
    }
}
