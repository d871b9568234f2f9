package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What of headers goes in, what comes out, and what is put over it. */
class HeadersTest {

    private static final PortPath PLAIN = PortPath.of("default", "box", 8000, null);
    private static final PortPath LINKED = PortPath.of("default", "box", 8000, "1.a.b");

    private static HttpHeaders headers(String... pairs) {
        var headers = new DefaultHttpHeaders();
        for (int i = 0; i < pairs.length; i += 2) {
            headers.add(pairs[i], pairs[i + 1]);
        }
        return headers;
    }

    private static HttpHeaders inwards(HttpHeaders from) {
        var to = new DefaultHttpHeaders();
        InwardHeaders.write(from, new InwardHeaders.Way("192.0.2.7", "https", PLAIN), to);
        return to;
    }

    private static HttpHeaders outwards(PortPath path, String... pairs) {
        var to = new DefaultHttpHeaders();
        OutwardHeaders.write(headers(pairs), path, to);
        return to;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Authorization",
                "Proxy-Authorization",
                "Cookie",
                "Referer",
                "Origin",
                "Forwarded",
                "X-Real-IP",
                "TE",
                "Trailer",
                "Transfer-Encoding",
                "Upgrade",
                "Keep-Alive",
                "Expect",
                "Sec-WebSocket-Key",
                "Sec-Fetch-Site",
                "X-Forwarded-User"
            })
    void whatSpeaksForTheCallerOrTheHopDoesNotGoIn(String name) {
        assertThat(inwards(headers(name, "x")).contains(name)).isFalse();
    }

    @Test
    void whatConnectionNamesIsOfTheHopToo() {
        HttpHeaders in = inwards(headers("Connection", "close, X-Odd", "X-Odd", "1", "X-Even", "2"));

        assertThat(in.contains("X-Odd")).isFalse();
        assertThat(in.get("X-Even")).isEqualTo("2");
        assertThat(outwards(PLAIN, "Connection", "x-odd", "X-Odd", "1").contains("X-Odd"))
                .isFalse();
    }

    @Test
    void theSandboxIsToldOfTheWay() {
        HttpHeaders in =
                inwards(headers("Host", "gw.example.com", "X-Forwarded-For", "forged", "Accept", "a", "Accept", "b"));

        assertThat(in.get("Host")).isEqualTo("localhost:8000");
        assertThat(in.getAll("X-Forwarded-For")).containsExactly("192.0.2.7");
        assertThat(in.get("X-Forwarded-Host")).isEqualTo("gw.example.com");
        assertThat(in.get("X-Forwarded-Proto")).isEqualTo("https");
        assertThat(in.get("X-Forwarded-Prefix")).isEqualTo("/sandboxes/default/box/ports/8000");
        assertThat(in.getAll("Accept")).containsExactly("a", "b");
    }

    @Test
    void onlyCookiesOfASandboxGoIn() {
        HttpHeaders in = inwards(headers("Cookie", "sso=secret; sandglass-port.a=1;sandglass-port.b=2"));

        assertThat(in.getAll("Cookie")).containsExactly("a=1; b=2");
        assertThat(inwards(headers("Cookie", "sso=secret")).contains("Cookie")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a=1 | sandglass-port.a=1; Path=/sandboxes/default/box/ports/8000/",
                "a=1; Path=/; Domain=example.com; HttpOnly | sandglass-port.a=1; HttpOnly; Path=/sandboxes/default/box/ports/8000/",
                "__Host-a=1; PATH = /mcp;domain=.com; Secure | sandglass-port.__Host-a=1; Secure; Path=/sandboxes/default/box/ports/8000/",
                "a=; Max-Age=0;; path | sandglass-port.a=; Max-Age=0; Path=/sandboxes/default/box/ports/8000/"
            })
    void aSandboxesCookieIsBoundToItsPort(String set, String bound) {
        assertThat(outwards(PLAIN, "Set-Cookie", set).get("Set-Cookie")).isEqualTo(bound);
        // The same whichever way the page came, so that a new link finds the cookies of the old one.
        assertThat(outwards(LINKED, "Set-Cookie", set).get("Set-Cookie")).isEqualTo(bound);
    }

    @Test
    void whatIsNoCookieIsDropped() {
        assertThat(outwards(PLAIN, "Set-Cookie", "novalue").contains("Set-Cookie"))
                .isFalse();
        assertThat(SandboxCookies.outwards("a=" + "x".repeat(4094), "/h")).isPresent();
        assertThat(SandboxCookies.outwards("a=" + "x".repeat(4095), "/h")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Strict-Transport-Security",
                "Clear-Site-Data",
                "Access-Control-Allow-Credentials",
                "Service-Worker-Allowed",
                "WWW-Authenticate",
                "X-Accel-Redirect",
                "X-Sendfile",
                "Alt-Svc",
                "Refresh",
                "Transfer-Encoding",
                "Proxy-Authenticate",
                "Upgrade"
            })
    void whatBearsOnMoreThanThePageDoesNotComeOut(String name) {
        assertThat(outwards(PLAIN, name, "x").contains(name)).isFalse();
        assertThat(outwards(LINKED, name, "x").contains(name)).isFalse();
    }

    @Test
    void everyAnswerIsFenced() {
        HttpHeaders out = outwards(
                PLAIN,
                "Content-Security-Policy",
                "default-src 'none'",
                "Referrer-Policy",
                "unsafe-url",
                "Cache-Control",
                "public",
                "X-Content-Type-Options",
                "no",
                "Content-Type",
                "text/html");

        assertThat(out.getAll("Content-Security-Policy"))
                .containsExactly("default-src 'none'", "sandbox allow-scripts allow-forms allow-downloads");
        assertThat(out.getAll("Referrer-Policy")).containsExactly("no-referrer");
        assertThat(out.getAll("Cache-Control")).containsExactly("no-store");
        assertThat(out.getAll("X-Content-Type-Options")).containsExactly("nosniff");
        assertThat(out.get("Content-Type")).isEqualTo("text/html");
    }

    @Test
    void pagesOfNoOriginMayReadWhatTheirLinkReachesAndNothingElse() {
        assertThat(outwards(PLAIN, "Access-Control-Allow-Origin", "*").contains("Access-Control-Allow-Origin"))
                .isFalse();
        HttpHeaders linked = outwards(
                LINKED, "Access-Control-Allow-Origin", "https://x", "Access-Control-Allow-Credentials", "true");
        assertThat(linked.getAll("Access-Control-Allow-Origin")).containsExactly("*");
        assertThat(linked.contains("Access-Control-Allow-Credentials")).isFalse();
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
                "https://example.com/x | https://example.com/x"
            })
    void redirectionsOfTheSandboxesOwnServerStayUnderThePrefix(String place, String where) {
        assertThat(outwards(PLAIN, "Location", place).get("Location")).isEqualTo(where);
    }

    @ParameterizedTest
    @ValueSource(strings = {"javascript:alert(1)", "data:text/html,x", "/\\evil", "http:", "file:///etc/passwd"})
    void redirectionsToNowhereAreDropped(String place) {
        assertThat(outwards(PLAIN, "Location", place).contains("Location")).isFalse();
    }
}
