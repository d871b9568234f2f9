package dev.sandglass.gateway.port.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where redirections of a sandbox's server lead its clients. */
class LocationRewriterTest {

    private static final PortPath PLAIN = PortPath.of("default", "box", 8000, null);
    private static final PortPath LINKED = PortPath.of("default", "box", 8000, "1.a.b");
    private static final String HOST = "gw.example.com:8443";

    private static Optional<String> outwards(String place, PortPath path) {
        return LocationRewriter.outwards(place, new InwardHeaders.Way("192.0.2.7", "https", HOST, path));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/login?a=1 | /sandboxes/default/box/ports/8000/login?a=1",
                "next | next",
                "?page=2 | ?page=2",
                "http://localhost:8000/x?y#z | /sandboxes/default/box/ports/8000/x?y#z",
                "http://127.0.0.1:8000 | /sandboxes/default/box/ports/8000/",
                "//localhost:8000/x | /sandboxes/default/box/ports/8000/x",
                "http://localhost:9000/x | http://localhost:9000/x",
                "https://example.com/x | https://example.com/x",
                "http://gw.example.com:8443/x?y#z | /sandboxes/default/box/ports/8000/x?y#z",
                "//GW.example.com:8443 | /sandboxes/default/box/ports/8000/",
                "https://gw.example.com:8443/sandboxes/default/box/ports/8000/x | https://gw.example.com:8443/sandboxes/default/box/ports/8000/x",
                "https://gw.example.com:8443/sandboxes/default/other/ports/1/ | https://gw.example.com:8443/sandboxes/default/other/ports/1/",
                "https://gw.example.com/x | https://gw.example.com/x"
            })
    void redirectionsOfTheSandboxesOwnServerStayUnderThePrefix(String place, String where) {
        assertThat(outwards(place, PLAIN)).contains(where);
    }

    @ParameterizedTest
    @ValueSource(strings = {"javascript:alert(1)", "data:text/html,x", "/\\evil", "http:", "file:///etc/passwd"})
    void redirectionsToNowhereAreDropped(String place) {
        assertThat(outwards(place, PLAIN)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/login?a=1", "/", "", "?a=1", "#top"})
    void whoeverPutsThePrefixBeforeItsPlacesItselfGetsNoSecondOne(String rest) {
        for (PortPath path : List.of(PLAIN, LINKED)) {
            String place = path.prefix() + rest;
            assertThat(outwards(place, path)).contains(place);
            assertThat(outwards("http://localhost:8000" + place, path)).contains(place);
        }
    }

    @Test
    void aPathThatOnlyBeginsLikeThePrefixIsOneOfTheServers() {
        String place = PLAIN.prefix() + "0/x";
        assertThat(outwards(place, PLAIN)).contains(PLAIN.prefix() + place);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "/a b?c=d e | /sandboxes/default/box/ports/8000/a%20b?c=d%20e",
                "/items[1] | /sandboxes/default/box/ports/8000/items%5B1%5D",
                "/a?q={x}^\"y\" | /sandboxes/default/box/ports/8000/a?q=%7Bx%7D%5E%22y%22",
                "/100%/a%20b%zz | /sandboxes/default/box/ports/8000/100%25/a%20b%25zz",
                "next page | next%20page",
                "http://localhost:8000/a b#c d | /sandboxes/default/box/ports/8000/a%20b#c%20d",
                "https://example.com/a b | https://example.com/a%20b"
            })
    void placesThatAreNotWrittenAsTheyShouldBeAreReadAsBrowsersDo(String place, String where) {
        assertThat(outwards(place, PLAIN)).contains(where);
    }

    @Test
    void barsAndLettersOfUtf8AreWrittenAsBytes() {
        // As Netty gives them: a character for each byte.
        String raw = new String("/à?a|b".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        assertThat(outwards(raw, PLAIN)).contains(PLAIN.prefix() + "/%C3%A0?a%7Cb");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/\\evil x", "java\tscript:alert(1)", "javascript:alert( 1)", "http://exa mple/", "\\\\evil"})
    void noPlaceBecomesAnotherByThat(String place) {
        assertThat(outwards(place, PLAIN)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "/a\\b?c\\d /sandboxes/default/box/ports/8000/a\\b?c\\d",
                "\\a /sandboxes/default/box/ports/8000/a",
                "http://localhost:8000\\a /sandboxes/default/box/ports/8000/a",
                "a\\b a\\b",
                "/?next=http://localhost:8000/[x] /sandboxes/default/box/ports/8000/?next=http://localhost:8000/[x]",
                "/a//b?//c /sandboxes/default/box/ports/8000/a//b?//c",
                "?a=//b:c ?a=//b:c"
            })
    void backslashesAndWhatLooksLikeAHostLaterOnAreCarried(String place, String where) {
        assertThat(outwards(place, PLAIN)).contains(where);
    }

    @Test
    void whatBrowsersTakeOutIsWritten() {
        // They read /<tab>/evil as //evil.
        assertThat(outwards("/\t/evil", PLAIN)).contains(PLAIN.prefix() + "/%09/evil");
    }
}
