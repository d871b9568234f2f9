package dev.sandglass.gateway.port.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
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

    private static InwardHeaders.Way way(PortPath path) {
        return new InwardHeaders.Way("192.0.2.7", "https", "gw.example.com", path);
    }

    private static HttpHeaders inwards(HttpHeaders from) {
        var to = new DefaultHttpHeaders();
        InwardHeaders.write(from, way(PLAIN), to);
        return to;
    }

    private static HttpHeaders outwards(PortPath path, String... pairs) {
        var to = new DefaultHttpHeaders();
        OutwardHeaders.write(headers(pairs), way(path), to);
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
                "X-Forwarded-User",
                "X-Forwarded-Access-Token",
                "X-Forwarded-Email",
                "Cf-Access-Jwt-Assertion",
                "Cf-Access-Authenticated-User-Email",
                "X-Goog-IAP-JWT-Assertion",
                "X-Goog-Authenticated-User-Email",
                "X-Amzn-Oidc-Accesstoken",
                "X-Amzn-Oidc-Data",
                "X-Amzn-Oidc-Identity",
                "X-Auth-Request-Access-Token",
                "X-MS-TOKEN-AAD-ID-TOKEN",
                "X-MS-CLIENT-PRINCIPAL",
                "X-Api-Key",
                "X-Vault-Token",
                "X-Pomerium-Jwt-Assertion",
                "X-Remote-User",
                "Impersonate-User",
                "Ssl-Client-Cert",
                "Baggage",
                "Sandbox-Mine",
                "X-Sandbox",
                "X-Nobody-Has-Heard-Of"
            })
    void whatIsNotForTheSandboxesServerDoesNotGoIn(String name) {
        assertThat(inwards(headers(name, "x")).getAll(name)).doesNotContain("x");
        assertThat(inwards(headers(name.toLowerCase(Locale.ROOT), "x")).getAll(name))
                .doesNotContain("x");
    }

    /** Of the servers that people start in a sandbox, what each looks at (docs/ports.md). */
    @ParameterizedTest
    @CsvSource({
        "a browser, 'Accept,Accept-Encoding,Accept-Language,User-Agent,Upgrade-Insecure-Requests,DNT,Cache-Control,Pragma'",
        "files, 'Range,If-Range,If-None-Match,If-Modified-Since,If-Match,If-Unmodified-Since'",
        "bodies, 'Content-Type,Content-Length,Content-Encoding,Content-Disposition,Content-Range'",
        "Jupyter and Streamlit, 'X-XSRFToken,X-Requested-With'",
        "Django and Dash, 'X-CSRFToken,X-CSRF-Token,X-XSRF-TOKEN'",
        "events, Last-Event-ID",
        "htmx, 'HX-Request,HX-Target,HX-Trigger'",
        "its own, 'X-Sandbox-Token,x-sandbox-a'"
    })
    void whatCommonServersNeedGoesInAsItIs(String whose, String names) {
        for (String name : names.split(",", -1)) {
            assertThat(inwards(headers(name, "x")).getAll(name))
                    .as("%s for %s", name, whose)
                    .containsExactly("x");
        }
    }

    @Test
    void whatConnectionNamesIsOfTheHopToo() {
        HttpHeaders in =
                inwards(headers("Connection", "close, X-Sandbox-Odd", "X-Sandbox-Odd", "1", "X-Sandbox-Even", "2"));

        assertThat(in.contains("X-Sandbox-Odd")).isFalse();
        assertThat(in.get("X-Sandbox-Even")).isEqualTo("2");
        assertThat(outwards(PLAIN, "Connection", "x-sandbox-odd", "X-Sandbox-Odd", "1")
                        .contains("X-Sandbox-Odd"))
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
                "Upgrade",
                "Secure-Session-Registration",
                "Sec-Session-Registration",
                "Set-Login",
                "Use-As-Dictionary",
                "Link",
                "Speculation-Rules",
                "Origin-Trial",
                "Report-To",
                "Server",
                "Expires",
                "CDN-Cache-Control",
                "Cloudflare-CDN-Cache-Control",
                "Surrogate-Control",
                "Surrogate-Key",
                "X-Accel-Buffering",
                "X-LiteSpeed-Location",
                "X-Lighttpd-Send-File",
                "X-Cascade",
                "Timing-Allow-Origin",
                "X-Nobody-Has-Heard-Of"
            })
    void whatBearsOnMoreThanThePageDoesNotComeOut(String name) {
        assertThat(outwards(PLAIN, name, "x").contains(name)).isFalse();
        assertThat(outwards(LINKED, name, "x").contains(name)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Accept-Ranges",
                "Allow",
                "Content-Disposition",
                "Content-Encoding",
                "Content-Length",
                "Content-Range",
                "Content-Type",
                "Date",
                "ETag",
                "HX-Redirect",
                "Last-Modified",
                "Retry-After",
                "Server-Timing",
                "Vary",
                "X-Frame-Options",
                "X-Sandbox-Mine"
            })
    void whatIsAboutThePageAloneComesOutAsItIs(String name) {
        assertThat(outwards(PLAIN, name, "x").getAll(name)).containsExactly("x");
        assertThat(outwards(LINKED, name.toLowerCase(Locale.ROOT), "x").getAll(name))
                .containsExactly("x");
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
}
