package dev.sandglass.gateway.contract.sandglass.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.ResourceProblem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** URIs of files: what they say, and every rule at its bound. */
class SandboxUriTest {

    private static final String BOX = "sandbox://default/box/";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "a.txt | a.txt",
                "data/2026/a%20b.csv | data/2026/a b.csv",
                "caf%C3%A9/%F0%9F%98%80 | café/😀",
                "café/😀 | café/😀",
                "data%2Fa.txt | data/a.txt",
                "%252e%252e/a | %2e%2e/a",
                "...  | ...",
                "..a/.b/c. | ..a/.b/c.",
                "a[1]:@!$&'()*+,;=~_-. | a[1]:@!$&'()*+,;=~_-.",
                "%e2%80%ae | \u202e",
            })
    void aPathIsDecodedOnce(String encoded, String path) {
        assertThat(SandboxUri.parse(BOX + encoded)).isEqualTo(new SandboxUri("default", "box", path));
    }

    @Test
    void theSchemeHasNoCaseAndNamesHave() {
        assertThat(SandboxUri.parse("SandBox://Team_1/Box-2/a")).isEqualTo(new SandboxUri("Team_1", "Box-2", "a"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "a b/c", "100%", "%41", "a?b#c", "~/x", "[x]", "é\n\u007f\u202e", "\\..\\a", "\"<>^`{|}"})
    void whatIsWrittenIsReadAgain(String path) {
        String text = new SandboxUri("default", "box", path).text();

        assertThat(text).matches("[!-~]+");
        assertThat(SandboxUri.parse(text).path()).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "..",
                "../a",
                "a/../b",
                "a/..",
                ".",
                "./a",
                "a//b",
                "/etc/passwd",
                "%2e%2e%2f%2e%2e%2fetc/passwd",
                "%2E%2e/a",
                ".%2e/a",
                "a%2f..%2fb",
                "%2Fetc%2Fpasswd",
                "a/%2e/b",
            })
    void noPathLeadsElsewhere(String path) {
        assertThatThrownBy(() -> SandboxUri.parse(BOX + path))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("no part of the path may be empty, '.' or '..', encoded or not");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "sandbox://default/box/a?b | no query and no fragment; write ? as %3F",
                "sandbox://default/box/a#b | no query and no fragment",
                "sandbox://default/box/a%00b | U+0000",
                "sandbox://default/box/a%0 | a % without two hexadecimal digits",
                "sandbox://default/box/a%zz | a % without two hexadecimal digits",
                "sandbox://default/box/% | write % itself as %25",
                "sandbox://default/box/%ff | not UTF-8",
                "sandbox://default/box/%c0%ae%c0%ae/a | not UTF-8",
                "sandbox://default/box/%ed%a0%80 | not UTF-8",
                "sandbox://default/box/a b | U+0020, which must be percent-encoded",
                "sandbox://default/box/a\\b | U+005C, which must be percent-encoded",
                "sandbox://default/box/a{b} | U+007B",
                "sandbox://default/box/data/ | ends with / as a folder's, and sandbox_list_files lists folders",
                "sandbox://default/box/ | names no file, and sandbox_list_files lists folders",
                "sandbox://default/box | names no file",
                "sandbox://default | names no file",
                "sandbox:// | names no file",
                "sandbox://*/box/a | * is no namespace here, name one",
            })
    void theRuleIsSaid(String uri, String rule) {
        assertThatThrownBy(() -> SandboxUri.parse(uri))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageStartingWith("'uri' ")
                .hasMessageContaining(rule);
    }

    @Test
    void halfACharacterIsNone() {
        assertThatThrownBy(() -> SandboxUri.parse(BOX + "\ud83d"))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("half a character");
        assertThatThrownBy(() -> SandboxUri.parse(BOX + "a\nb"))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("U+000A");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sandbox:///box/a",
                "sandbox://default//a",
                "sandbox://def%61ult/box/a",
                "sandbox://user@default/box/a",
                "sandbox://default:80/box/a",
                "sandbox://../box/a",
                "sandbox://-x/box/a",
                "sandbox://default/bö/a",
            })
    void namesKeepTheirGrammar(String uri) {
        assertThatExceptionOfType(InvalidNameException.class).isThrownBy(() -> SandboxUri.parse(uri));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "file:///workspace/a", "sandbox:default/box/a", "sandboxes://default/box/a"})
    void otherUrisAreUnknown(String uri) {
        assertThatExceptionOfType(ResourceProblem.class)
                .isThrownBy(() -> SandboxUri.parse(uri))
                .matches(problem -> problem.kind() == ResourceProblem.Kind.UNKNOWN)
                .withMessageContaining("sandbox://{namespace}/{sandbox}/{+path}");
    }

    @Test
    void aPathHasAtMost4096Bytes() {
        String longest = "é".repeat(2047) + "ab";
        String encoded = new SandboxUri("n".repeat(63), "s".repeat(63), longest).text();
        assertThat(SandboxUri.parse(encoded).path()).isEqualTo(longest);
        String everyByte = "%C3%A9".repeat(2048);
        assertThat(SandboxUri.parse("sandbox://" + "n".repeat(63) + "/" + "s".repeat(63) + "/" + everyByte)
                        .path())
                .hasSize(2048);

        assertThatThrownBy(() -> SandboxUri.parse(BOX + longest + "c")).hasMessageContaining("at most 4096 bytes");
        assertThatThrownBy(() -> SandboxUri.parse(BOX + "a".repeat(4097))).hasMessageContaining("at most 4096 bytes");
        assertThatThrownBy(() -> SandboxUri.parse("sandbox://" + "n".repeat(64) + "/box/a"))
                .isInstanceOf(InvalidNameException.class)
                .hasMessageContaining("63");
    }

    @Test
    void aUriHasABoundOfItsOwn() {
        String most = BOX + "a".repeat(SandboxUri.MAX_CHARS - BOX.length());
        assertThatThrownBy(() -> SandboxUri.parse(most)).hasMessageContaining("4096 bytes");
        assertThatThrownBy(() -> SandboxUri.parse(most + "a"))
                .hasMessage("'uri' must have at most 12544 characters, has 12545");
    }

    @Test
    void aHomeFolderIsANameAsAnyOther() {
        assertThat(SandboxUri.parse(BOX + "~/a").filePath()).isEqualTo("./~/a");
        assertThat(SandboxUri.parse(BOX + "a/~").filePath()).isEqualTo("a/~");
    }

    @Test
    void whatHasNoUriIsLeftOut() {
        assertThat(SandboxUri.of("default", "box", "a/../b")).isEmpty();
        assertThat(SandboxUri.of("default", "box", "")).isEmpty();
        assertThat(SandboxUri.of("default", "a.b", "a")).isEmpty();
        assertThat(SandboxUri.of("*", "box", "a")).isEmpty();
        assertThat(SandboxUri.of("default", "box", "a")).isPresent();
    }
}
