package dev.sandglass.gateway.port.message;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the path of a request names: {@code /sandboxes/TENANT/SANDBOX/ports/PORT/…} for those with credentials,
 * {@code /sandboxes/TENANT/SANDBOX/links/PORT/LINK/…} for those with a link. Nothing is decoded: whatever is not written
 * plainly is no address. Pure.
 *
 * @param tenant as callers write it
 * @param sandbox its given name
 * @param port in the sandbox
 * @param link the permission in the path, or null
 * @param rest path and query for the sandbox, as they came, a character for each byte; empty if the path ends before its slash
 */
public record PortPath(
        String tenant, String sandbox, int port, @Nullable String link, String rest) {

    /** Begin of all these paths. */
    public static final String ROOT = "/sandboxes/";

    private static final Pattern GRAMMAR = Pattern.compile(
            "/sandboxes/([A-Za-z0-9_-]{1,63})/([A-Za-z0-9_-]{1,63})/(?:ports/([1-9][0-9]{0,4})|links/([1-9][0-9]{0,4})/([A-Za-z0-9_.-]{1,700}))(?=[/?]|$)");

    public static PortPath of(String tenant, String sandbox, int port, @Nullable String link) {
        return new PortPath(tenant, sandbox, port, link, "");
    }

    /** What a request's target names; empty if it is none of ours. */
    public static Optional<PortPath> parse(String target) {
        Matcher path = GRAMMAR.matcher(target);
        if (!path.lookingAt()) {
            return Optional.empty();
        }
        boolean plain = path.group(3) != null;
        return Optional.of(new PortPath(
                path.group(1),
                path.group(2),
                Integer.parseInt(plain ? path.group(3) : path.group(4)),
                path.group(5),
                target.substring(path.end())));
    }

    /** What stands before the sandbox's own path, without a slash at its end. */
    public String prefix() {
        return link == null ? home() : "%s%s/%s/links/%d/%s".formatted(ROOT, tenant, sandbox, port, link);
    }

    /** The prefix for those with credentials: the same whatever link is used. */
    public String home() {
        return "%s%s/%s/ports/%d".formatted(ROOT, tenant, sandbox, port);
    }

    /** Whether the slash is missing without which a page's relative addresses would miss the prefix. */
    public boolean lacksSlash() {
        return !rest.startsWith("/");
    }

    /** Never the link. */
    @Override
    public String toString() {
        return home();
    }
}
