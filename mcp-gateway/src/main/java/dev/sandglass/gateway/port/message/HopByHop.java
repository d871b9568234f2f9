package dev.sandglass.gateway.port.message;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Headers that are about one connection and go no further (RFC 9110, section 7.6.1). Pure. */
final class HopByHop {

    private static final Set<String> ALWAYS = Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-authentication-info",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings");

    private HopByHop() {}

    /** The names in lower case, those included that the message itself names in {@code Connection}. */
    static Set<String> of(HttpHeaders headers) {
        var names = new TreeSet<>(ALWAYS);
        headers.getAll(HttpHeaderNames.CONNECTION).stream()
                .flatMap(value -> Stream.of(value.split(",")))
                .map(name -> name.strip().toLowerCase(Locale.ROOT))
                .forEach(names::add);
        return names;
    }
}
