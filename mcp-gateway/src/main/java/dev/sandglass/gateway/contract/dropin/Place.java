package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.gateway.action.Absent;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Which sandbox the calls to a URL mean: the one that it names, else that of the client's session, else the caller's own.
 * One that is not there is made as the URL says.
 */
public final class Place {

    private static final String SANDBOX = "sandbox";
    private static final String NAMESPACE = "namespace";
    private static final Pattern PLAIN = Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?");
    private static final int MAX_NAME = 63;
    private static final int DIGEST_DIGITS = 20;

    private final TenantAccess access;
    private final String endpoint;
    private final Optional<String> named;
    private final Optional<String> namespace;
    private final SandboxConfig config;

    private Place(
            TenantAccess access,
            String endpoint,
            Optional<String> named,
            Optional<String> namespace,
            SandboxConfig config) {
        this.access = access;
        this.endpoint = endpoint;
        this.named = named;
        this.namespace = namespace;
        this.config = config;
    }

    /**
     * That of a URL.
     *
     * @param endpoint its path, with which names begin that nobody chose
     * @param others keys of the query that the endpoint reads itself
     * @param adapted what it makes of the query's configuration
     * @throws InvalidArgument if the query breaks a rule
     */
    static Place of(
            TenantAccess access,
            String endpoint,
            Query query,
            Set<String> others,
            UnaryOperator<SandboxConfig> adapted) {
        try {
            Set<String> known = QueryConfig.keys();
            known.add(SANDBOX);
            known.add(NAMESPACE);
            known.addAll(others);
            query.check(known);
            return new Place(
                    access,
                    endpoint,
                    QueryConfig.single(query, SANDBOX),
                    QueryConfig.single(query, NAMESPACE),
                    adapted.apply(QueryConfig.read(query)));
        } catch (InvalidArgument broken) {
            throw broken.text().startsWith("in the URL: ") ? broken : QueryConfig.inUrl(broken);
        }
    }

    /** Whether the URL names the sandbox. */
    public boolean isNamed() {
        return named.isPresent();
    }

    /** The sandbox that a call means, if the caller may use it. */
    public SandboxRef of(ToolCall call) {
        return of(call.caller(), call.session());
    }

    SandboxRef of(Caller caller, Optional<String> session) {
        return access.sandbox(caller, namespace, name(caller, session));
    }

    /** What a call means, by its names alone: whether the caller may use it is not asked. */
    public Tool.Subject subject(Caller caller, Optional<String> session) {
        return new Tool.Subject(namespace.orElseGet(() -> access.own(caller)), name(caller, session));
    }

    private String name(Caller caller, Optional<String> session) {
        return named.or(() -> session).orElseGet(() -> own(caller));
    }

    /** What becomes of a call whose sandbox is not there. */
    public Absent absent(ToolCall call) {
        return new Absent.Created(call.caller().name(), config);
    }

    /** The caller's own; a name that is none of a sandbox's is shortened, and told from others by a digest. */
    private String own(Caller caller) {
        String whole = endpoint + "-" + caller.name();
        if (whole.length() <= MAX_NAME && PLAIN.matcher(whole).matches()) {
            return whole;
        }
        String slug = caller.name().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
        String begin = endpoint + "-" + slug.replaceAll("^-+", "");
        String kept = begin.substring(0, Math.min(begin.length(), MAX_NAME - DIGEST_DIGITS - 1));
        return kept.replaceAll("-+$", "") + "-" + digest(caller.name());
    }

    private static String digest(String text) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha256).substring(0, DIGEST_DIGITS);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }
}
