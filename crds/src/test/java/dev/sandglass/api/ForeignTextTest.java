package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ForeignTextTest {

    private static final int MOST = 1000;

    /** Input and what stands on our line; both with escapes of Java, which this test undoes. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "plain words             | plain words",
                "caf\\u00e9 \\u4f60\\u597d \\ud83d\\ude00 | caf\\u00e9 \\u4f60\\u597d \\ud83d\\ude00",
                "a\\u001b[31mred\\u001b[0m | a [31mred [0m",
                "a\\u001b]8;;http://x\\u0007b | a ]8;;http://x b",
                "a\\u000ab\\u000d\\u000ac | a b c",
                "a\\u0085b\\u2028c\\u2029d\\u000be\\u000cf | a b c d e f",
                "a\\u009b31mb            | a 31mb",
                "a\\u0000b\\u007fc       | a b c",
                "a\\u00a0b\\u3000c\\u2800d | a b cd",
                "a\\u202egpj.exe\\u202c  | agpj.exe",
                "a\\u2066b\\u2069\\u200f\\u061cc | abc",
                "pass\\u200bword\\ufeff\\u00ad\\u2060 | password",
                "a\\ud800b\\udc00c       | abc",
                "a\\udb40\\udc41\\udb40\\udc42b | ab",
                "a\\ufe0fb\\udb40\\udd00c | abc",
                "a\\ue000b\\uffffc       | abc",
                "a\\u115f\\u3164\\uffa0\\u034fb | ab",
                "\\u000a\\u001b          | ''",
            })
    void whatMovesTheCursorIsABlankAndWhatDoesNotShowIsGone(String text, String line) {
        assertThat(ForeignText.line(unescaped(text), MOST)).isEqualTo(unescaped(line));
    }

    @Tag("slow")
    @Test
    void noCharacterOfAnyPlaneGetsThroughUnseen() {
        for (int letter = 0; letter <= Character.MAX_CODE_POINT; letter++) {
            String line = ForeignText.line("<" + Character.toString(letter) + ">", MOST);
            assertThat(line.lines()).as("U+%04X", letter).hasSize(1);
            assertThat(line.chars().anyMatch(Character::isISOControl))
                    .as("U+%04X", letter)
                    .isFalse();
            assertThat(line.codePoints().noneMatch(ForeignTextTest::isUnseen))
                    .as("U+%04X", letter)
                    .isTrue();
            assertThat(ForeignText.line(line, MOST)).isEqualTo(line);
        }
    }

    private static boolean isUnseen(int letter) {
        int type = Character.getType(letter);
        return type == Character.FORMAT || type == Character.SURROGATE || type == Character.PRIVATE_USE;
    }

    @Test
    void aLongTextKeepsItsBeginningOrItsEnd() {
        assertThat(ForeignText.line("a".repeat(10), 10)).isEqualTo("a".repeat(10));
        assertThat(ForeignText.line("a".repeat(11), 10)).isEqualTo("a".repeat(10) + "…");
        assertThat(ForeignText.end("x" + "a".repeat(10), 10)).isEqualTo("…" + "a".repeat(10));
        assertThat(ForeignText.end("\n" + "a".repeat(10), 10)).isEqualTo("a".repeat(10));
    }

    @Test
    void noCutIsWithinACharacter() {
        String faces = "\ud83d\ude00".repeat(6);
        assertThat(ForeignText.line(faces, 5)).isEqualTo("\ud83d\ude00\ud83d\ude00…");
        assertThat(ForeignText.end(faces, 5)).isEqualTo("…\ud83d\ude00\ud83d\ude00\ud83d\ude00");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.txt", "café", "it's", "a\\nb", "a  b", "你好/x"})
    void anOrdinaryNameStandsAsItIs(String name) {
        assertThat(ForeignText.name(name)).isEqualTo(name);
        assertThat(ForeignText.quoted(name)).isEqualTo("'" + name + "'");
    }

    @Test
    void anyOtherNameIsJsonThatANextCallCanSay() {
        assertThat(ForeignText.name("a\u001b[31m\nb")).isEqualTo("\"a\\u001b[31m\\u000ab\"");
        assertThat(ForeignText.name("\"a\\\"")).isEqualTo("\"\\\"a\\\\\\\"\"");
        assertThat(ForeignText.name("a\u202eb")).isEqualTo("\"a\\u202eb\"");
        assertThat(ForeignText.name("\udb40\udc41")).isEqualTo("\"\\udb40\\udc41\"");
        assertThat(ForeignText.name(" a")).isEqualTo("\" a\"");
        assertThat(ForeignText.name("")).isEqualTo("\"\"");
        assertThat(ForeignText.quoted("a\nb")).isEqualTo("\"a\\u000ab\"");
    }

    @Test
    void jsonKeepsItsLinesAndSaysTheSame() {
        assertThat(ForeignText.json("{\n  \"a\" : \"\u202eb\u007f\"\n}"))
                .isEqualTo("{\n  \"a\" : \"\\u202eb\\u007f\"\n}");
    }

    @Test
    void asciiShowsALookAlikeAsAQuestion() {
        assertThat(ForeignText.ascii("ex\u0430mple", 60)).isEqualTo("ex?mple");
        assertThat(ForeignText.ascii("abc", 2)).isEqualTo("ab…");
    }

    private static String unescaped(String text) {
        StringBuilder plain = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            if (text.startsWith("\\u", at)) {
                plain.append((char) Integer.parseInt(text.substring(at + 2, at + 6), 16));
                at += 5;
            } else {
                plain.append(text.charAt(at));
            }
        }
        return plain.toString();
    }
}
