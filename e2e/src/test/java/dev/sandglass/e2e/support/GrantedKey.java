package dev.sandglass.e2e.support;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;

/** An API key that an administrator grants for a test, and takes back at its end. */
public final class GrantedKey implements AutoCloseable {

    private static final String KEYS = "sandglass-api-keys";

    /** The kubelets bring a changed Secret to the pods so late. */
    private static final Duration UNTIL_KEYS_ARE_READ = Duration.ofMinutes(5);

    private static final int CONNECTIONS = 12;

    private final KubernetesClient kubernetes;
    private final String caller;
    private final String key = "sgk_" + random(32);

    private GrantedKey(KubernetesClient kubernetes, String caller) {
        this.kubernetes = kubernetes;
        this.caller = caller;
    }

    /** Hexadecimal digits of so many bytes, for names that nobody else uses. */
    public static String random(int bytes) {
        byte[] drawn = new byte[bytes];
        new SecureRandom().nextBytes(drawn);
        return HexFormat.of().formatHex(drawn);
    }

    /** Grants a key of all tenants. */
    public static GrantedKey ofAllTenants(KubernetesClient kubernetes, String caller) {
        var granted = new GrantedKey(kubernetes, caller);
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(granted.key.getBytes(StandardCharsets.US_ASCII));
            granted.write("{\"sha256\": \"%s\", \"tenants\": [\"*\"]}"
                    .formatted(HexFormat.of().formatHex(digest)));
            return granted;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An empty grant takes the key back. */
    private void write(String grant) {
        String value = grant.isEmpty()
                ? "null"
                : '"' + Base64.getEncoder().encodeToString(grant.getBytes(StandardCharsets.US_ASCII)) + '"';
        // Without a resource version: other tests write their keys into the same Secret.
        kubernetes
                .secrets()
                .inNamespace(Installation.NAMESPACE)
                .withName(KEYS)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"%s\":%s}}".formatted(caller, value));
    }

    /** Who has it, as soon as every replica of the gateway knows it. */
    public Agent agent(Installation installation) {
        return await("the key, in every replica")
                .atMost(UNTIL_KEYS_ARE_READ)
                .ignoreExceptions()
                .until(() -> connected(installation), agent -> true);
    }

    /** Each replica reads the keys at a time of its own; each connection may come to another. */
    private Agent connected(Installation installation) {
        for (int i = 0; i < CONNECTIONS; i++) {
            Agent.connect(installation.endpoint(), key).close();
        }
        return Agent.connect(installation.endpoint(), key);
    }

    /** Takes the key back. */
    @Override
    public void close() {
        write("");
    }
}
