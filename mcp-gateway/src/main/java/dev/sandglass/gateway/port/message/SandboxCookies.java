package dev.sandglass.gateway.port.message;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Cookies of a sandbox's port on an origin that all ports share: each gets a name and a path of its own on the way out, and
 * only such are passed in. Cookies of other programs on the same host, e.g. of a sign-on before this gateway, never reach a
 * sandbox. Pure.
 */
public final class SandboxCookies {

    private static final int MAX_CHARS = 4096;
    private static final String PREFIX = "sandglass-port.";

    private SandboxCookies() {}

    /** What of a request's {@code Cookie} is the sandbox's; empty if nothing is. */
    static Optional<String> inwards(String cookies) {
        String kept = Stream.of(cookies.split(";"))
                .map(String::strip)
                .filter(cookie -> cookie.startsWith(PREFIX))
                .map(cookie -> cookie.substring(PREFIX.length()))
                .collect(Collectors.joining("; "));
        return kept.isEmpty() ? Optional.empty() : Optional.of(kept);
    }

    /**
     * A sandbox's {@code Set-Cookie}, bound to its port; empty if it cannot be one.
     *
     * @param home path of the port, without a slash at its end
     */
    static Optional<String> outwards(String cookie, String home) {
        String[] parts = cookie.split(";");
        int equals = parts[0].indexOf('=');
        if (equals < 1 || cookie.length() > MAX_CHARS) {
            return Optional.empty();
        }
        String attributes = Stream.of(parts)
                .skip(1)
                .map(String::strip)
                .filter(attribute -> !isAbout(attribute, "domain") && !isAbout(attribute, "path"))
                .filter(attribute -> !attribute.isEmpty())
                .map(attribute -> "; " + attribute)
                .collect(Collectors.joining());
        return Optional.of(PREFIX + parts[0].strip() + attributes + "; Path=" + home + "/");
    }

    private static boolean isAbout(String attribute, String name) {
        String lower = attribute.toLowerCase(Locale.ROOT);
        return lower.startsWith(name)
                && lower.substring(name.length()).stripLeading().matches("(=.*)?");
    }
}
