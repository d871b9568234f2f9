package dev.sandglass.egress.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads of requests: what clients send is read, what two programs could read differently is refused. */
class ProxyRequestTest {

    private static ProxyRequest read(String head) throws Refusal {
        return ProxyRequest.of(RequestHead.parse(head.getBytes(StandardCharsets.ISO_8859_1)));
    }

    private static void refused(String head, String part) {
        assertThatExceptionOfType(Refusal.class)
                .as(head)
                .isThrownBy(() -> read(head))
                .withMessageContaining(part);
    }

    @ParameterizedTest
    @CsvSource({
        "CONNECT example.com:443 HTTP/1.1, Host: example.com:443",
        "CONNECT example.com:443 HTTP/1.1, Host: example.com",
        "CONNECT example.com:443 HTTP/1.1, host:  EXAMPLE.com.",
        "CONNECT EXAMPLE.com:443 HTTP/1.0, User-Agent: python",
        "CONNECT example.com:443 HTTP/1.1, Content-Length: 0",
    })
    void aTunnel(String line, String field) throws Refusal {
        ProxyRequest request = read(line + "\r\n" + field + "\r\nProxy-Connection: Keep-Alive\r\n\r\n");
        assertThat(request).isInstanceOf(ProxyRequest.Tunnel.class);
        assertThat(request.target()).hasToString("example.com:443");
    }

    @Test
    void aForwardedRequestLosesWhatIsMeantForTheProxy() throws Refusal {
        ProxyRequest request = read("""
                POST http://Example.com/a?b=c HTTP/1.1\r
                Host: example.com\r
                X-A: 1\r
                Proxy-Authorization: Basic eHh4\r
                Connection: keep-alive, X-Hop\r
                X-Hop: 2\r
                TE: trailers\r
                Upgrade: h2c\r
                Content-Length: 3\r
                \r
                """);
        assertThat(request.credential()).hasValue("Basic eHh4");
        assertThat(request).isInstanceOfSatisfying(ProxyRequest.Forward.class, forward -> {
            assertThat(forward.body()).isEqualTo(new BodyLength.Exactly(3));
            assertThat(new String(ForwardedHead.bytes(forward.head()), StandardCharsets.ISO_8859_1))
                    .isEqualTo("""
                            POST /a?b=c HTTP/1.1\r
                            Host: example.com\r
                            X-A: 1\r
                            Content-Length: 3\r
                            Connection: close\r
                            \r
                            """);
        });
        assertThat(request.toString()).doesNotContain("eHh4");
    }

    /** A character is a byte here. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/[slug]/{id}",
                "/a|b^c`",
                "/100%",
                "/%zz",
                "/caf\u00c3\u00a9?q=\u00ff",
                "/a\\b",
                "/\"<x>\"",
                "/?\u0080"
            })
    void aPathGoesOnByteForByte(String path) throws Refusal {
        ProxyRequest request = read("GET http://example.com" + path + " HTTP/1.1\r\nHost: example.com\r\n\r\n");
        assertThat(request).isInstanceOfSatisfying(ProxyRequest.Forward.class, forward -> assertThat(
                        new String(ForwardedHead.bytes(forward.head()), StandardCharsets.ISO_8859_1))
                .startsWith("GET " + path + " HTTP/1.1\r\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://ex\u00e4mple.com/",
                "http://\u00ff/",
                "http://example.com\u0080/",
                "http://example.com\\a/"
            })
    void aHostHasNoneOfThese(String url) {
        refused("GET " + url + " HTTP/1.1\r\nHost: example.com\r\n\r\n", "");
    }

    @ParameterizedTest
    @CsvSource({
        "http://example.com, /, example.com",
        "HTTP://example.com?q, /?q, example.com",
        "http://example.com:8080/x, /x, example.com:8080",
        "http://[2606:2800::1]/, /, [2606:2800::1]",
    })
    void theTargetBecomesAPath(String url, String path, String host) throws Refusal {
        ProxyRequest request = read("GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        assertThat(request).isInstanceOfSatisfying(ProxyRequest.Forward.class, forward -> {
            assertThat(forward.head().target()).isEqualTo(path);
            assertThat(forward.head().fields().getFirst()).isEqualTo(new Field("Host", host));
        });
    }

    @ParameterizedTest
    @CsvSource({
        "GET / HTTP/1.1, this is a proxy",
        "OPTIONS * HTTP/1.1, this is a proxy",
        "GET https://example.com/ HTTP/1.1, use CONNECT",
        "GET ftp://example.com/ HTTP/1.1, use CONNECT",
        "GET http://user@example.com/ HTTP/1.1, not a host name",
        "GET http://example.com@evil.com/ HTTP/1.1, not a host name",
        "GET http://example.com\\@evil.com/ HTTP/1.1, not a host name",
        "GET http://example.com#@evil.com/ HTTP/1.1, fragment",
        "GET http:///example.com HTTP/1.1, not a host name",
        "GET http://127.1/ HTTP/1.1, neither a host name nor an IPv4 address",
        "CONNECT example.com HTTP/1.1, has no port",
        "CONNECT http://example.com:443 HTTP/1.1, target is wrong",
        "CONNECT user@example.com:443 HTTP/1.1, not a host name",
        "CONNECT example.com:443 HTTP/2.0, version must be",
        "CONNECT example.com:443 http/1.1, version must be",
        "CONNECT  example.com:443 HTTP/1.1, single spaces",
        "CONNECT example.com:443  HTTP/1.1, single spaces",
        "CONNECT example.com:443 HTTP/1.1 x, single spaces",
        "CONNECT example.com:443, single spaces",
        "C(NNECT example.com:443 HTTP/1.1, single spaces",
        "connect example.com:443 HTTP/1.1, this is a proxy",
    })
    void requestLinesThatAreRefused(String line, String part) {
        refused(line + "\r\n\r\n", part);
    }

    @Test
    void whatTwoProgramsCouldReadDifferently() {
        String get = "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n";
        refused(get + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "must not stand twice");
        refused(get + "Content-Length: 1, 1\r\n\r\n", "decimal number");
        refused(get + "Content-Length: +1\r\n\r\n", "decimal number");
        refused(get + "Content-Length: 0x1\r\n\r\n", "decimal number");
        refused(get + "Content-Length: 99999999999999\r\n\r\n", "decimal number");
        refused(get + "Content-Length: 1099511627777\r\n\r\n", "at most 1099511627776");
        refused(get + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "must not stand together");
        refused(get + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "stand but once");
        refused(get + "Transfer-Encoding: gzip, chunked\r\n\r\n", "must be chunked");
        refused(get + "Transfer-Encoding: xchunked\r\n\r\n", "must be chunked");
        refused(get + "Transfer-Encoding\t: chunked\r\n\r\n", "a colon right behind it");
        refused(get + "Host: evil.com\r\n\r\n", "must not stand twice");
        refused(get + "Connection: content-length\r\nContent-Length: 3\r\n\r\n", "must not name");
        refused(get + "Proxy-Authorization: a\r\nProxy-Authorization: b\r\n\r\n", "must not stand twice");
        refused(get + "X: a\r\n b\r\n\r\n", "must not go on in the next line");
        refused(get + "X: a\nY: b\r\n\r\n", "control character 10");
        refused(get + "X: a\rY: b\r\n\r\n", "control character 13");
        refused(get + "X: a\0b\r\n\r\n", "control character 0");
        refused(get + "X\r\n\r\n", "a colon right behind it");
        refused(get + ": x\r\n\r\n", "a colon right behind it");
        refused("\r\n" + get + "\r\n", "first empty line");
        refused(get, "first empty line");
        refused(get + "\r\nmore", "first empty line");
        refused("CONNECT example.com:443 HTTP/1.1\r\nHost: evil.com:443\r\n\r\n", "must say the same");
        refused("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:444\r\n\r\n", "must say the same");
        refused("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nHost: evil.com\r\n\r\n", "twice");
        refused("CONNECT example.com:443 HTTP/1.1\r\nHost: \r\n\r\n", "Host is wrong");
        refused("CONNECT example.com:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "must not have a body");
        refused("CONNECT example.com:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "must not have a body");
        refused("GET http://example.com/ HTTP/1.1\r\nHost: evil.com\r\n\r\n", "must say the same");
        refused("GET http://example.com/ HTTP/1.1\r\nHost: example.com:81\r\n\r\n", "must say the same");
        refused("GET http://example.com/ HTTP/1.1\r\n\r\n", "Host is missing");
    }

    @Test
    void atMostAHundredFields() throws Refusal {
        String head = "CONNECT example.com:443 HTTP/1.1\r\n" + "X: y\r\n".repeat(RequestHead.MAX_FIELDS);
        assertThat(read(head + "\r\n")).isInstanceOf(ProxyRequest.Tunnel.class);
        refused(head + "X: y\r\n\r\n", "100 header fields, not 101");
    }
}
