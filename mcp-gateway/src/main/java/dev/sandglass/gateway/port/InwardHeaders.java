package dev.sandglass.gateway.port;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Which headers of a request reach the sandbox: nothing with which it could act for the caller. Pure. */
final class InwardHeaders {

    /**
     * Besides those of one hop. {@code Referer} holds the link, {@code Origin} ours, which a server would take for an attack
     * on itself; of the sender's own forwarding headers nothing is known, so they are replaced.
     */
    private static final Set<String> DROPPED = Set.of(
            "authorization",
            "cookie",
            "cookie2",
            "expect",
            "forwarded",
            "host",
            "origin",
            "referer",
            "via",
            "x-real-ip");

    private static final Set<String> DROPPED_PREFIXES = Set.of("x-forwarded-", "sec-fetch-", "sec-websocket-");

    private InwardHeaders() {}

    /**
     * What a sandbox's server may want to know of the way before it.
     *
     * @param client address of whoever is connected
     * @param scheme with which clients come
     */
    record Way(String client, String scheme, PortPath path) {}

    /** Writes what the sandbox gets. */
    static void write(HttpHeaders from, Way way, HttpHeaders to) {
        Set<String> hop = HopByHop.of(from);
        for (Map.Entry<String, String> header : from) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!hop.contains(name)
                    && !DROPPED.contains(name)
                    && DROPPED_PREFIXES.stream().noneMatch(name::startsWith)) {
                to.add(header.getKey(), header.getValue());
            }
        }
        SandboxCookies.inwards(from.getAll(HttpHeaderNames.COOKIE).stream().collect(Collectors.joining("; ")))
                .ifPresent(cookies -> to.set(HttpHeaderNames.COOKIE, cookies));
        // Development servers answer only to the name of their own machine.
        to.set(HttpHeaderNames.HOST, "localhost:" + way.path().port());
        if (!way.client().isEmpty()) {
            to.set("X-Forwarded-For", way.client());
        }
        to.set("X-Forwarded-Proto", way.scheme());
        to.set("X-Forwarded-Prefix", way.path().prefix());
        String host = from.get(HttpHeaderNames.HOST);
        if (host != null) {
            to.set("X-Forwarded-Host", host);
        }
    }
}
