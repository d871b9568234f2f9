package dev.sandglass.gateway.port;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Where a sandbox's server sends a client to, as the client has to ask for it. Pure. */
final class Places {

    private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "0.0.0.0");

    private Places() {}

    /**
     * What {@code Location} of an answer becomes: places on the sandbox's own server come under the prefix, those of other
     * hosts stay; empty for what no client should follow.
     */
    static Optional<String> outwards(String place, PortPath path) {
        URI target;
        try {
            target = URI.create(place);
        } catch (IllegalArgumentException notAPlace) {
            return Optional.empty();
        }
        if (target.getScheme() == null && target.getRawAuthority() == null) {
            return Optional.of(place.startsWith("/") ? under(path, place) : place);
        }
        boolean web = target.getScheme() == null || target.getScheme().matches("(?i)https?");
        if (!web || target.getHost() == null) {
            return Optional.empty();
        }
        if (!isOwn(target, path)) {
            return Optional.of(place);
        }
        String query = target.getRawQuery() == null ? "" : "?" + target.getRawQuery();
        String fragment = target.getRawFragment() == null ? "" : "#" + target.getRawFragment();
        String rest = target.getRawPath().isEmpty() ? "/" : target.getRawPath();
        return Optional.of(under(path, rest + query + fragment));
    }

    /** Servers that obey {@code X-Forwarded-Prefix} have put it before the path themselves. */
    private static String under(PortPath path, String rest) {
        String prefix = path.prefix();
        boolean already = rest.startsWith(prefix)
                && (rest.length() == prefix.length() || "/?#".indexOf(rest.charAt(prefix.length())) >= 0);
        return already ? rest : prefix + rest;
    }

    private static boolean isOwn(URI target, PortPath path) {
        return target.getPort() == path.port()
                && OWN_NAMES.contains(target.getHost().toLowerCase(Locale.ROOT));
    }
}
