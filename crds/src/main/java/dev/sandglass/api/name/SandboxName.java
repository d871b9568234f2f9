package dev.sandglass.api.name;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The name a caller gives a sandbox: 1 to 63 ASCII letters, digits, hyphens and underscores, the first of them a letter
 * or a digit. Kubernetes knows neither capitals nor underscores, so that some names are mapped.
 *
 * @param given the name as the caller wrote it
 */
public record SandboxName(String given) {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?");
    private static final Pattern MAPPED = Pattern.compile(".*-x[0-9a-f]{10}");
    private static final int DIGEST_DIGITS = 10;
    private static final int MAX_SLUG = GivenNames.MAX_LENGTH - DIGEST_DIGITS - "-x".length();

    /**
     * @throws InvalidNameException if the name breaks the grammar; its message is meant for the caller
     */
    public SandboxName {
        GivenNames.check("Sandbox name", given);
    }

    /**
     * Name of the {@code Sandbox} resource. A name that is a DNS label stays what it is; any other becomes
     * {@code <slug>-x<10 hex digits of the name's SHA-256>}. Names that end like such a result are mapped as well, so
     * that no name equals the name that another one is mapped to.
     */
    public String resourceName() {
        if (DNS_LABEL.matcher(given).matches() && !MAPPED.matcher(given).matches()) {
            return given;
        }
        String slug = given.toLowerCase(Locale.ROOT).replace('_', '-');
        String start = slug.substring(0, Math.min(slug.length(), MAX_SLUG));
        return start.replaceAll("-+$", "") + "-x" + digest();
    }

    private String digest() {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(given.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha256).substring(0, DIGEST_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
