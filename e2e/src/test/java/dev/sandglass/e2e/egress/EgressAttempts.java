package dev.sandglass.e2e.egress;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What {@code attack/egress.py} is told to try at the egress proxy.
 *
 * @param allowed the one host that the sandbox's list names
 */
record EgressAttempts(String allowed) {

    private static final String MALFORMED = "X-Proxy-Error: malformed";
    private static final String NOT_ALLOWED = "X-Proxy-Error: not-allowed";
    private static final String NOBODY = "X-Proxy-Error: unknown-sandbox";

    /** As Python shows the first bytes of TLS's way to say that access is denied: a fatal alert. */
    private static final String ALERT = "\\x15\\x03";

    /**
     * What must not get through, and beside it the same with the one wrong thing put right.
     *
     * @param refusal how the proxy says no: that nobody answers there would prove nothing
     */
    record Pair(String name, String refusal, Map<String, Object> attack, Map<String, Object> harmless) {}

    static Map<String, Object> connect(String target) {
        return Map.of("kind", "connect", "target", target);
    }

    static Map<String, Object> connectAs(String credential, String target) {
        return Map.of("kind", "connect", "target", target, "credential", credential);
    }

    private static Map<String, Object> head(String head) {
        return Map.of("kind", "request", "head", head);
    }

    private Map<String, Object> hello(String form, String nameInside) {
        return Map.of("kind", "hello", "form", form, "target", allowed + ":443", "name_inside", nameInside);
    }

    Map<String, Object> clean() {
        return connect(allowed + ":443");
    }

    Stream<Pair> all() {
        return Stream.of(names(), addresses(), lines(), requests(), hellos()).flatMap(List::stream);
    }

    private List<Pair> names() {
        return List.of(
                name("a NUL before the allowed name", MALFORMED, "denied.example\0." + allowed),
                name("an encoded NUL", MALFORMED, "denied.example%00." + allowed),
                name("user information before the host", MALFORMED, allowed + "@denied.example"),
                name("a label put before the name", NOT_ALLOWED, "denied." + allowed),
                name("the name as a label of another", NOT_ALLOWED, allowed + ".denied.example"),
                name("the name with more behind it", NOT_ALLOWED, allowed + "x"),
                name("an underscore", MALFORMED, "_." + allowed),
                name("two dots", MALFORMED, allowed + ".."),
                name("another alphabet's letter", MALFORMED, "\u0430." + allowed));
    }

    private Pair name(String what, String refusal, String host) {
        return new Pair(what, refusal, head("CONNECT " + bytes(host) + ":443 HTTP/1.1\r\nAUTH\r\n"), clean());
    }

    /** The script sends Latin-1: one byte for each character. */
    private static String bytes(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private List<Pair> addresses() {
        return Stream.of("127.1", "2130706433", "0x7f.0.0.1", "017700000001", "[::ffff:169.254.169.254]", "[::1%25lo]")
                .map(host -> new Pair("loopback or link-local as " + host, MALFORMED, connect(host + ":8081"), clean()))
                .toList();
    }

    private List<Pair> lines() {
        return List.of(
                new Pair(
                        "a second line in the target",
                        MALFORMED,
                        head("CONNECT " + allowed + ":443\r\nHost: denied.example:443 HTTP/1.1\r\nAUTH\r\n"),
                        clean()),
                new Pair("another port", NOT_ALLOWED, connect(allowed + ":22"), clean()),
                new Pair("the credential of nobody", NOBODY, connectAs("nobody:guessed", allowed + ":443"), clean()));
    }

    private List<Pair> requests() {
        String get = "GET http://" + allowed + "/ HTTP/1.1\r\n";
        String host = "Host: " + allowed + "\r\n";
        String end = "AUTHConnection: close\r\n\r\n";
        Map<String, Object> harmless = head(get + host + end);
        return List.of(
                new Pair(
                        "a Host that is not the target's",
                        MALFORMED,
                        head(get + "Host: denied.example\r\n" + end),
                        harmless),
                new Pair("two Hosts", MALFORMED, head(get + host + "Host: denied.example\r\n" + end), harmless),
                new Pair(
                        "two lengths",
                        MALFORMED,
                        head(get + host + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n" + end),
                        harmless),
                new Pair("a path where a URL belongs", MALFORMED, head("GET / HTTP/1.1\r\n" + host + end), harmless),
                new Pair(
                        "plain HTTP for the port of TLS",
                        MALFORMED,
                        head("GET http://%1$s:443/ HTTP/1.1\r\nHost: %1$s:443\r\n".formatted(allowed) + end),
                        harmless));
    }

    private List<Pair> hellos() {
        Map<String, Object> harmless = hello("tls", allowed);
        Map<String, Object> plainOn80 =
                Map.of("kind", "hello", "form", "plain", "target", allowed + ":80", "name_inside", allowed);
        return List.of(
                new Pair("TLS for another name", ALERT, hello("tls", "denied.example"), harmless),
                new Pair("TLS without a name", ALERT, hello("tls", ""), harmless),
                new Pair("TLS with an encrypted name", ALERT, hello("ech", allowed), harmless),
                new Pair("no TLS at all on 443", ALERT, hello("plain", allowed), plainOn80));
    }
}
