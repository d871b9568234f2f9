package dev.sandglass.gateway.port;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Where a sandbox's server sends a client to, as the client has to ask for it. Pure. */
final class Places {

    /** Of ASCII, besides letters and digits, what may stand in a URI everywhere, and the backslash. */
    private static final String MARKS = "-_.!~*'();/?:@&=+$,#%\\";

    private static final Pattern NO_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "0.0.0.0");

    private Places() {}

    /**
     * What {@code Location} of an answer becomes: places on the sandbox's own server come under the prefix, those of other
     * hosts stay; empty for what no client should follow.
     */
    static Optional<String> outwards(String place, InwardHeaders.Way way) {
        return parsed(place).or(() -> parsed(written(place))).flatMap(target -> outwards(target, way));
    }

    private static Optional<URI> parsed(String place) {
        try {
            return Optional.of(new URI(place));
        } catch (URISyntaxException notAPlace) {
            return Optional.empty();
        }
    }

    /**
     * Many servers write places as they like, which browsers follow: what may not stand in a URI becomes bytes in hexadecimal.
     * Not so a backslash, which browsers take for a slash.
     */
    private static String written(String place) {
        var written = new StringBuilder();
        for (char letter : NO_ESCAPE.matcher(place).replaceAll("%25").toCharArray()) {
            boolean plain = letter < 0x80 && (Character.isLetterOrDigit(letter) || MARKS.indexOf(letter) >= 0);
            written.append(plain ? String.valueOf(letter) : "%%%02X".formatted((int) letter));
        }
        return written.toString();
    }

    private static Optional<String> outwards(URI target, InwardHeaders.Way way) {
        PortPath path = way.path();
        String place = target.toString();
        if (target.getScheme() == null && target.getRawAuthority() == null) {
            return Optional.of(place.startsWith("/") ? under(path, place) : place);
        }
        boolean web = target.getScheme() == null || target.getScheme().matches("(?i)https?");
        if (!web || target.getHost() == null) {
            return Optional.empty();
        }
        if (!isOwn(target, path) && !isOurs(target, way.host())) {
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

    /** Servers that obey {@code X-Forwarded-Host} take our name for theirs; what they say of another port stays. */
    private static boolean isOurs(URI target, String host) {
        return target.getRawAuthority().equalsIgnoreCase(host)
                && !target.getRawPath().startsWith(PortPath.ROOT);
    }

    private static boolean isOwn(URI target, PortPath path) {
        return target.getPort() == path.port()
                && OWN_NAMES.contains(target.getHost().toLowerCase(Locale.ROOT));
    }
}
