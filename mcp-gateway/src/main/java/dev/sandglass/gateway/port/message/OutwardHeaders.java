package dev.sandglass.gateway.port.message;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Which headers of a sandbox's answer reach the client, and which are put over them: what untrusted code says must bear upon
 * nothing but its own page. What browsers and proxies obey grows by the year, so that those are listed that pass. Pure.
 */
public final class OutwardHeaders {

    /** Gives the page an origin of its own that no other page has: no storage, no cookies, no other page's content. */
    public static final String SANDBOXED = "sandbox allow-scripts allow-forms allow-downloads";

    private static final int MAX_COOKIES = 32;

    /**
     * Not among them: what speaks for the whole host or origin ({@code Link} too, which can name the origin's payment app), to a
     * proxy before us, or for a log-in on our name; and what is written anew.
     */
    private static final Set<String> PASSED = Set.of(
            "accept-patch",
            "accept-post",
            "accept-ranges",
            "age",
            "allow",
            "content-digest",
            "content-disposition",
            "content-encoding",
            "content-language",
            "content-length",
            "content-location",
            "content-md5",
            "content-range",
            "content-security-policy",
            "content-security-policy-report-only",
            "content-type",
            "cross-origin-embedder-policy",
            "cross-origin-opener-policy",
            "cross-origin-resource-policy",
            "date",
            "etag",
            "grpc-message",
            "grpc-status",
            "last-modified",
            "location",
            "permissions-policy",
            "preference-applied",
            "repr-digest",
            "retry-after",
            "server-timing",
            "sourcemap",
            "vary",
            "warning",
            "x-frame-options",
            "x-total-count");

    /** The page's own, and of libraries for pages. */
    private static final Set<String> PASSED_PREFIXES =
            Set.of(InwardHeaders.OWN, "hx-", "x-inertia", "x-livewire", "x-nextjs-", "x-up-");

    private OutwardHeaders() {}

    /** Writes what the client gets. */
    public static void write(HttpHeaders from, InwardHeaders.Way way, HttpHeaders to) {
        Set<String> hop = HopByHop.of(from);
        for (Map.Entry<String, String> header : from) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (!passes(name) || hop.contains(name)) {
                continue;
            }
            if (name.equals("location") || name.equals("content-location")) {
                LocationRewriter.outwards(header.getValue(), way).ifPresent(place -> to.set(header.getKey(), place));
            } else {
                to.add(header.getKey(), header.getValue());
            }
        }
        from.getAll(HttpHeaderNames.SET_COOKIE).stream()
                .limit(MAX_COOKIES)
                .flatMap(cookie -> SandboxCookies.outwards(cookie, way.path().home()).stream())
                .forEach(cookie -> to.add(HttpHeaderNames.SET_COOKIE, cookie));
        protect(way.path(), to);
    }

    private static boolean passes(String name) {
        return PASSED.contains(name) || PASSED_PREFIXES.stream().anyMatch(name::startsWith);
    }

    /** What every answer on such a path carries, whoever wrote it. */
    public static void protect(PortPath path, HttpHeaders to) {
        // Added, not set: a page may forbid itself more.
        to.add("Content-Security-Policy", SANDBOXED);
        to.set("X-Content-Type-Options", "nosniff");
        to.set("Referrer-Policy", "no-referrer");
        to.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        if (path.link() != null) {
            // The page's own scripts come from no origin at all; the link is the permission, and there is no other.
            to.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, "*");
            to.set(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, "*");
        }
    }
}
