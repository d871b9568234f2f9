package dev.sandglass.gateway.port.message;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where a sandbox's server sends a client to, as the client has to ask for it. Pure. */
final class LocationRewriter {

    /** Of ASCII, besides letters and digits, what may stand in a URI everywhere, and the backslash. */
    private static final String MARKS = "-_.!~*'();/?:@&=+$,#%\\";

    private static final Pattern NO_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    private static final Pattern PARTS =
            Pattern.compile("(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:([/\\\\]{2})([^/?#\\\\]*))?(.*)");

    /** What some clients may still take for a scheme. */
    private static final Pattern NO_SCHEME = Pattern.compile("[^/?#\\\\]*:");

    private static final int SCHEME = 1;
    private static final int SLASHES = 2;
    private static final int AUTHORITY = 3;
    private static final int REST = 4;

    private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "0.0.0.0");

    private LocationRewriter() {}

    /**
     * What {@code Location} of an answer becomes: places on the sandbox's own server come under the prefix, those of other
     * hosts stay; empty for what no client should follow.
     */
    static Optional<String> outwards(String place, InwardHeaders.Way way) {
        Matcher parts = PARTS.matcher(isUri(place) ? place : written(place));
        if (!parts.matches()
                || (parts.group(SLASHES) != null && parts.group(SLASHES).contains("\\"))) {
            // Browsers take a backslash for a slash, other clients do not: where it decides who is asked, no one is.
            return Optional.empty();
        }
        return outwards(new Place(parts.group(), parts.group(SCHEME), parts.group(AUTHORITY), parts.group(REST)), way);
    }

    /** The parts of a place; {@code rest} is its path, query and fragment. */
    private record Place(
            String whole, @Nullable String scheme, @Nullable String authority, String rest) {

        boolean isOfTheRoot() {
            return rest.startsWith("/") || rest.startsWith("\\");
        }

        String fromTheRoot() {
            return "/" + (isOfTheRoot() ? rest.substring(1) : rest);
        }
    }

    private static boolean isUri(String place) {
        try {
            var _ = new URI(place);
            return true;
        } catch (URISyntaxException notOne) {
            return false;
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

    private static Optional<String> outwards(Place place, InwardHeaders.Way way) {
        PortPath path = way.path();
        if (place.scheme() == null && place.authority() == null) {
            if (NO_SCHEME.matcher(place.rest()).lookingAt()) {
                return Optional.empty();
            }
            return Optional.of(place.isOfTheRoot() ? under(path, place.fromTheRoot()) : place.rest());
        }
        boolean web = place.scheme() == null || place.scheme().matches("(?i)https?");
        @Nullable URI server = place.authority() == null ? null : server(place.authority());
        if (!web || server == null || server.getHost() == null) {
            return Optional.empty();
        }
        return Optional.of(
                isOwn(server, path) || isOurs(server, place, way.host())
                        ? under(path, place.fromTheRoot())
                        : place.whole());
    }

    private static @Nullable URI server(String authority) {
        try {
            return new URI("http://" + authority);
        } catch (URISyntaxException none) {
            return null;
        }
    }

    /** Servers that obey {@code X-Forwarded-Prefix} have put it before the path themselves. */
    private static String under(PortPath path, String rest) {
        String prefix = path.prefix();
        boolean already = rest.startsWith(prefix)
                && (rest.length() == prefix.length() || "/?#".indexOf(rest.charAt(prefix.length())) >= 0);
        return already ? rest : prefix + rest;
    }

    /** Servers that obey {@code X-Forwarded-Host} take our name for theirs; what they say of another port stays. */
    private static boolean isOurs(URI server, Place place, String host) {
        return server.getRawAuthority().equalsIgnoreCase(host)
                && !place.fromTheRoot().startsWith(PortPath.ROOT);
    }

    private static boolean isOwn(URI server, PortPath path) {
        return server.getPort() == path.port()
                && OWN_NAMES.contains(server.getHost().toLowerCase(Locale.ROOT));
    }
}
