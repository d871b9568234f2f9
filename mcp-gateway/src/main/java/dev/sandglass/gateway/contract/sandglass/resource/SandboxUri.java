package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.api.name.TenantName;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.ResourceProblem;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The URI of a file in a sandbox's workspace: {@code sandbox://NAMESPACE/SANDBOX/PATH}. Pure.
 *
 * @param namespace the tenant, as callers write it
 * @param sandbox the name, as callers write it
 * @param path relative to {@code /workspace}, decoded
 */
record SandboxUri(String namespace, String sandbox, String path) {

    /** Its form as RFC 6570 has it. */
    static final String TEMPLATE = "sandbox://{namespace}/{sandbox}/{+path}";

    /** Most bytes of a path, as in the file tools. */
    static final int MAX_PATH_BYTES = 4096;

    /** A path of which each byte is encoded, and the longest names. */
    static final int MAX_CHARS = 3 * MAX_PATH_BYTES + 256;

    private static final String SCHEME = "sandbox://";
    private static final String FORM =
            "'uri' must be sandbox://NAMESPACE/SANDBOX/PATH, with the path of a file relative to /workspace";

    /**
     * One that keeps the rules.
     *
     * @throws InvalidArgument if the path breaks a rule
     * @throws InvalidNameException if a name does
     */
    SandboxUri {
        if (namespace.equals(TenantName.WILDCARD)) {
            throw new InvalidArgument(FORM + "; * is no namespace here, name one");
        }
        new TenantName(namespace);
        new SandboxName(sandbox);
        check(path);
    }

    /**
     * Reads what a caller sent.
     *
     * @throws ResourceProblem if the URI has another scheme
     * @throws InvalidArgument if it breaks a rule
     * @throws InvalidNameException if a name in it does
     */
    static SandboxUri parse(String uri) {
        if (uri.length() > MAX_CHARS) {
            throw new InvalidArgument(
                    "'uri' must have at most %d characters, has %d".formatted(MAX_CHARS, uri.length()));
        }
        if (!uri.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw ResourceProblem.unknown("Resource not found: resources have the form %s".formatted(TEMPLATE));
        }
        if (uri.indexOf('?') >= 0 || uri.indexOf('#') >= 0) {
            throw new InvalidArgument(
                    "'uri' must have no query and no fragment; write ? as %3F and # as %23 if they belong to the path");
        }
        String[] parts = uri.substring(SCHEME.length()).split("/", 3);
        if (parts.length < 3 || parts[2].isEmpty()) {
            throw new InvalidArgument(FORM + "; this one names no file, and sandbox_list_files lists folders");
        }
        return new SandboxUri(parts[0], parts[1], PercentEncoding.decoded(parts[2]));
    }

    /** The URI of a file that was found; empty if there can be none. */
    static Optional<SandboxUri> of(String namespace, String sandbox, String path) {
        try {
            return Optional.of(new SandboxUri(namespace, sandbox, path));
        } catch (InvalidArgument | InvalidNameException _) {
            return Optional.empty();
        }
    }

    /** In ASCII; {@link #parse} gives this again. */
    String text() {
        return SCHEME + namespace + "/" + sandbox + "/" + PercentEncoding.encoded(path);
    }

    /** The path as file actions take it, for which a leading {@code ~} is the workspace. */
    String filePath() {
        return literal(path);
    }

    /** A path that file actions take as it is. */
    static String literal(String path) {
        return path.startsWith("~") ? "./" + path : path;
    }

    /**
     * Checks a decoded path.
     *
     * @throws InvalidArgument if it breaks a rule
     */
    static void check(String path) {
        if (path.getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
            throw new InvalidArgument("'uri' must have a path of at most %d bytes".formatted(MAX_PATH_BYTES));
        }
        if (path.indexOf('\0') >= 0) {
            throw new InvalidArgument("'uri' must not contain the character U+0000, written %00");
        }
        if (path.endsWith("/")) {
            throw new InvalidArgument(
                    FORM + "; this path ends with / as a folder's, and sandbox_list_files lists folders");
        }
        if (Arrays.stream(path.split("/", -1)).anyMatch(SandboxUri::leadsElsewhere)) {
            throw new InvalidArgument(FORM + "; no part of the path may be empty, '.' or '..', encoded or not");
        }
    }

    private static boolean leadsElsewhere(String part) {
        return part.isEmpty() || part.equals(".") || part.equals("..");
    }
}
