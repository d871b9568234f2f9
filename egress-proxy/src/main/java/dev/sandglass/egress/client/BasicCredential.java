package dev.sandglass.egress.client;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;

/**
 * User and password as {@code Proxy-Authorization: Basic} carries them.
 *
 * @param user before the colon
 * @param password behind it
 */
public record BasicCredential(String user, String password) {

    /** Longest value that is looked at. */
    public static final int MAX_LENGTH = 1024;

    private static final String SCHEME = "basic ";

    /** Reads the value of the header field; empty if it is of another scheme or malformed. */
    public static Optional<BasicCredential> parse(String value) {
        if (value.length() > MAX_LENGTH || !value.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
            return Optional.empty();
        }
        try {
            byte[] plain =
                    Base64.getDecoder().decode(value.substring(SCHEME.length()).strip());
            String text = new String(plain, StandardCharsets.UTF_8);
            int colon = text.indexOf(':');
            return colon < 0
                    ? Optional.empty()
                    : Optional.of(new BasicCredential(text.substring(0, colon), text.substring(colon + 1)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @Override
    public String toString() {
        return "BasicCredential[hidden]";
    }
}
