package dev.sandglass.gateway.port.message;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which headers of a request reach the sandbox: those by which HTTP and common frameworks work, and no others. What somebody
 * before us adds for whoever asks, such as the tokens of a log-in, has any name, so that no list of what to leave out is ever
 * whole. Pure.
 */
public final class InwardHeaders {

    /** What a page and its own server mean for each other alone has a name that begins so (docs/ports.md). */
    static final String OWN = "x-sandbox-";

    /**
     * Not among them, besides what speaks for the caller: {@code Referer} may be another page on our host; {@code Origin} and
     * {@code Sec-Fetch-*} tell of our origin, so that a server would take its own page for an attack.
     */
    private static final Set<String> PASSED = Set.of(
            "accept",
            "accept-charset",
            "accept-encoding",
            "accept-language",
            "cache-control",
            "connect-protocol-version",
            "connect-timeout-ms",
            "content-digest",
            "content-disposition",
            "content-encoding",
            "content-language",
            "content-length",
            "content-location",
            "content-md5",
            "content-range",
            "content-type",
            "dnt",
            "grpc-timeout",
            "idempotency-key",
            "if-match",
            "if-modified-since",
            "if-none-match",
            "if-range",
            "if-unmodified-since",
            "last-event-id",
            "pragma",
            "prefer",
            "priority",
            "range",
            "rsc",
            "save-data",
            "sec-gpc",
            "upgrade-insecure-requests",
            "user-agent",
            "x-csrf-token",
            "x-csrftoken",
            "x-grpc-web",
            "x-http-method-override",
            "x-requested-with",
            "x-xsrf-token",
            "x-xsrftoken");

    /** Of the page's own, and of libraries for pages: what they say to the server that they came with. */
    private static final Set<String> PASSED_PREFIXES =
            Set.of(OWN, "hx-", "next-", "turbo-", "x-inertia", "x-livewire", "x-up-");

    private InwardHeaders() {}

    /**
     * What a sandbox's server may want to know of the way before it.
     *
     * @param client address of whoever is connected
     * @param scheme with which clients come
     * @param host what they call us, with a port where they name one; empty if they do not say
     */
    public record Way(String client, String scheme, String host, PortPath path) {}

    /** Writes what the sandbox gets. */
    public static void write(HttpHeaders from, Way way, HttpHeaders to) {
        Set<String> hop = HopByHop.of(from);
        for (Map.Entry<String, String> header : from) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (passes(name) && !hop.contains(name)) {
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
        if (!way.host().isEmpty()) {
            to.set("X-Forwarded-Host", way.host());
        }
    }

    private static boolean passes(String name) {
        return PASSED.contains(name) || PASSED_PREFIXES.stream().anyMatch(name::startsWith);
    }
}
