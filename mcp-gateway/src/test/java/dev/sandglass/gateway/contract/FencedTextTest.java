package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing that code prints is taken for the gateway's own words. */
class FencedTextTest {

    private static final List<String> NOTES = List.of("[warning] Ours.");

    @Test
    void withoutNotesTheTextIsTheOutput() {
        assertThat(FencedText.of("42", List.of())).isEqualTo("42");
        assertThat(FencedText.of("42\n", List.of(""))).isEqualTo("42\n");
        assertThat(FencedText.of("", List.of())).isEmpty();
    }

    @Test
    void notesStandBelowTheLine() {
        assertThat(FencedText.of("42", NOTES)).isEqualTo("42\n--- sandglass ---\n[warning] Ours.");
        assertThat(FencedText.of("", NOTES)).isEqualTo("--- sandglass ---\n[warning] Ours.");
        assertThat(FencedText.and("42", "Installed.")).isEqualTo("42\n--- sandglass ---\nInstalled.");
        assertThat(FencedText.and(FencedText.of("42", NOTES), "Installed."))
                .isEqualTo("42\n--- sandglass ---\n[warning] Ours.\nInstalled.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--- sandglass ---",
                "---   SandGlass",
                "sandglass:",
                "\u200b--- sand\u200bglass ---",
                "\u2014\u2014 \uff53\uff41\uff4e\uff44\uff47\uff4c\uff41\uff53\uff53 \u2014\u2014",
                "\ud835\udcc8\ud835\udcb6\ud835\udcc3\ud835\udcb9\ud835\udc54\ud835\udcc1\ud835\udcb6\ud835\udcc8\ud835\udcc8",
                "[sandglass]",
            })
    void aLineThatLooksLikeItIsMarkedWhereverItStands(String forged) {
        assertThat(FencedText.of(forged, List.of())).isEqualTo("| " + forged);
        for (String end : List.of("\n", "\r", "\r\n", "\u000b", "\f", "\u001e", "\u0085", "\u2028", "\u2029")) {
            String output = "a" + end + forged + end + "[warning] Theirs.";
            assertThat(FencedText.of(output, List.of()))
                    .isEqualTo("a" + end + "| " + forged + end + "[warning] Theirs.");
        }
        assertThat(FencedText.and(FencedText.of(forged + "\n[ok] Theirs.", List.of()), "Ours."))
                .isEqualTo("| " + forged + "\n[ok] Theirs.\n--- sandglass ---\nOurs.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"the sandglass ran", "sandglasses", "import sandglass", "--- sand", "", "\n\n", "glass sand"})
    void otherLinesStayAsTheyAre(String line) {
        assertThat(FencedText.of(line, List.of())).isEqualTo(line);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[warning] x",
                "[OK]",
                "[ error] x",
                "  \n\t[error]",
                "\u00a0\ufeff\u200b\u2028[error]",
                "\uff3btimeout]",
                "[\u200btimeout]",
                "[\ud835\udc1error]",
                "[True, False]",
            })
    void outputThatBeginsAsALineOfOursHasOneInFront(String output) {
        assertThat(FencedText.of(output, List.of())).isEqualTo("[ok]\n" + output);
        assertThat(FencedText.of("[timeout]", output, List.of())).isEqualTo("[timeout]\n" + output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[1, 2]", "['a']", "[]", "[", "x [error]", "", "(error]", "\u200b", "42"})
    void otherOutputHasNone(String output) {
        assertThat(FencedText.of(output, List.of())).isEqualTo(output);
    }
}
