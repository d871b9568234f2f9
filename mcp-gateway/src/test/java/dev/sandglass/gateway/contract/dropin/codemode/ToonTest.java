package dev.sandglass.gateway.contract.dropin.codemode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.testing.AnyText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** X8: the form of TOON, against a reader that is written from the rules of its specification. */
class ToonTest {

    private static final String ODD = "a1-+.e#:,\"\\[]{} \t\n\r\u0001\u2028`\u00e9truefalsenull";

    private static ObjectNode object(String json) {
        return (ObjectNode) JsonMapper.shared().readTree(json.replace('\'', '"'));
    }

    @Test
    void oneLineForEachField() {
        assertThat(Toon.of(
                        object("{'status':'error','exitCode':3,'stdout':['a b','c'],'stderr':[],'error':'it: ended'}")))
                .isEqualTo("status: error\nexitCode: 3\nstdout[2]: a b,c\nstderr[0]:\nerror: \"it: ended\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "two words", "Success (no output)", "é 系统 🙂", "a-b", "x#1", "1 2", "1.2.3", "True", "a`b"})
    void aPlainTextStandsWithoutQuotes(String text) {
        assertThat(Toon.text(text)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "''|\"\"",
                " a|\" a\"",
                "a |\"a \"",
                "true|\"true\"",
                "false|\"false\"",
                "null|\"null\"",
                "42|\"42\"",
                "-3.14|\"-3.14\"",
                "+1|\"+1\"",
                "05|\"05\"",
                "1E-6|\"1E-6\"",
                "a:b|\"a:b\"",
                "a\"b|\"a\\\"b\"",
                "a\\b|\"a\\\\b\"",
                "[a|\"[a\"",
                "a]|\"a]\"",
                "{a|\"{a\"",
                "a}|\"a}\"",
                "a,b|\"a,b\"",
                "-|\"-\"",
                "- a|\"- a\"",
                "#a|\"#a\"",
                "```|\"\\u0060\\u0060\\u0060\""
            })
    void whatAReaderCouldMistakeIsQuoted(String text, String written) {
        assertThat(Toon.text(text)).isEqualTo(written);
    }

    @Test
    void whatDoesNotShowIsEscaped() {
        assertThat(Toon.text("a\tb\r\nc")).isEqualTo("\"a\\tb\\r\\nc\"");
        assertThat(Toon.text("line\nline")).isEqualTo("\"line\\nline\"");
        assertThat(Toon.text("a\u2028b")).isEqualTo("\"a\\u2028b\"");
        assertThat(Toon.text("a\u001bb")).isEqualTo("\"a\\u001bb\"");
        assertThat(Toon.text("a\u202eb\u200b")).isEqualTo("\"a\\u202eb\\u200b\"");
        assertThat(Toon.text("a\ud800b")).isEqualTo("\"a\ufffdb\"");
        // Tags, a variation selector, and a letter of private use, none of which has an escape.
        assertThat(Toon.text("a\udb40\udc41\udb40\udc42b")).isEqualTo("\"a\ufffd\ufffdb\"");
        assertThat(Toon.text("a\udb40\udd00b\udb80\udc00")).isEqualTo("\"a\ufffdb\ufffd\"");
        assertThat(Toon.of(JsonNodeFactory.instance.objectNode().put("my key", "v")))
                .isEqualTo("\"my key\": v");
    }

    @Tag("slow")
    @Test
    void anyPayloadComesBack() {
        AnyText any = AnyText.of(List.of(new byte[] {3}, "[1]: a,\"b\"".getBytes(StandardCharsets.UTF_8)));
        for (int round = 0; round < 3_000; round++) {
            ObjectNode fields = JsonNodeFactory.instance.objectNode();
            fields.put("summary", escapable(any));
            fields.put("note", new String(new char[] {odd(any), odd(any), odd(any)}));
            fields.put("exitCode", any.dice().nextInt(-9, 300));
            var lines = fields.putArray("stdout");
            for (int line = any.dice().nextInt(4); line > 0; line--) {
                lines.add(escapable(any));
            }
            fields.putArray("stderr");
            fields.put("error", escapable(any));

            String written = Toon.of(fields);
            assertThat(written.split("\n", -1)).hasSize(6);
            assertThat(written.codePoints().filter(letter -> letter < 0x20 && letter != '\n'))
                    .isEmpty();
            assertThat(written).doesNotContain("```").doesNotContain(" \n").doesNotEndWith(" ");
            assertThat(read(written)).as(written).isEqualTo(fields);
        }
    }

    /** The notation has no escapes beyond the first plane, so that what does not show there never comes back. */
    private static String escapable(AnyText any) {
        return any.whole()
                .codePoints()
                .filter(letter -> letter <= 0xffff
                        || ForeignText.json(Character.toString(letter)).equals(Character.toString(letter)))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** Often what the notation or a line means something by. */
    private static char odd(AnyText any) {
        return ODD.charAt(any.dice().nextInt(ODD.length()));
    }

    /** A strict reader of objects of primitives and lists of them. */
    private static ObjectNode read(String text) {
        ObjectNode fields = JsonNodeFactory.instance.objectNode();
        for (String line : text.split("\n", -1)) {
            int colon = line.indexOf(':');
            String head = line.substring(0, colon);
            String rest = line.substring(colon + 1);
            int bracket = head.indexOf('[');
            if (bracket < 0) {
                assertThat(rest).startsWith(" ");
                put(fields, head, rest.substring(1));
            } else {
                var list = fields.putArray(head.substring(0, bracket));
                List<String> tokens = rest.isEmpty() ? List.of() : tokens(rest.substring(1));
                assertThat(head.substring(bracket)).isEqualTo("[" + tokens.size() + "]");
                tokens.forEach(token -> list.add(string(token)));
            }
        }
        return fields;
    }

    private static void put(ObjectNode fields, String key, String token) {
        if (token.matches("-?(0|[1-9][0-9]*)")) {
            fields.put(key, Integer.parseInt(token));
        } else {
            fields.put(key, string(token));
        }
    }

    private static List<String> tokens(String line) {
        List<String> tokens = new ArrayList<>();
        int begin = 0;
        boolean quoted = false;
        for (int at = 0; at < line.length(); at++) {
            char letter = line.charAt(at);
            if (quoted && letter == '\\') {
                at++;
            } else if (letter == '"') {
                quoted = !quoted;
            } else if (letter == ',' && !quoted) {
                tokens.add(line.substring(begin, at));
                begin = at + 1;
            }
        }
        tokens.add(line.substring(begin));
        return tokens;
    }

    /** What the rules take for a text, and nothing that they take for something else. */
    private static String string(String token) {
        if (token.startsWith("\"")) {
            assertThat(token).hasSizeGreaterThan(1).endsWith("\"");
            assertThat(token.substring(1, token.length() - 1).replaceAll("\\\\([\\\\\"nrt]|u[0-9a-f]{4})", ""))
                    .doesNotContainPattern("[\"\\\\\\x00-\\x1f]");
            return JsonMapper.shared().readTree(token).asString();
        }
        assertThat(token)
                .isEqualTo(token.strip())
                .isNotEmpty()
                .doesNotMatch("true|false|null|(?i)[+-]?[0-9]+(\\.[0-9]+)?(e[+-]?[0-9]+)?")
                .doesNotContainPattern("[:\"\\\\\\[\\]{},]")
                .doesNotStartWith("-")
                .doesNotStartWith("#");
        return token;
    }
}
