package dev.sandglass.operator.install;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the secrets that every installation needs and that no administrator should have to invent: the link secret, the
 * egress secret and the first API key. What exists is left as it is, so the job is safe to run on every install and upgrade, and after a run
 * that was cut off half-way.
 */
public final class InstallSecrets {
    private static final Logger LOG = LoggerFactory.getLogger(InstallSecrets.class);
    private static final Base64.Encoder BASE64 = Base64.getEncoder();
    private static final int SECRET_BYTES = 64;

    private final KubernetesClient client;
    private final SecureRandom random;
    private final InstallSettings settings;

    InstallSecrets(KubernetesClient client, SecureRandom random, InstallSettings settings) {
        this.client = client;
        this.random = random;
        this.settings = settings;
    }

    /** Runs the job once with the settings of the environment; exits non-zero when the API server refuses. */
    public static void main(String[] args) {
        try (KubernetesClient client = new KubernetesClientBuilder().build()) {
            new InstallSecrets(client, new SecureRandom(), InstallSettings.from(System.getenv())).run();
        }
    }

    void run() {
        settings.linkSecret().ifPresent(name -> createIfAbsent(name, Map.of("linkSecret", randomText())));
        settings.egressSecret().ifPresent(name -> createIfAbsent(name, Map.of("egressSecret", randomText())));
        settings.apiKeySecret().ifPresent(this::createApiKeys);
    }

    // Once keys are granted, the plain first key is the administrator's to delete, and no new one may appear for it.
    // Before that the plain key comes first: a job cut off between the two finds it again and grants that same key.
    private void createApiKeys(String keysSecret) {
        if (find(keysSecret).isPresent()) {
            LOG.atInfo().addKeyValue("secret", keysSecret).log("API keys are granted already");
            return;
        }
        String plainSecret = settings.firstKeySecret();
        ApiKey fresh = ApiKey.random(random);
        boolean created = createIfAbsent(plainSecret, Map.of("key", fresh.token()));
        ApiKey key = created ? fresh : new ApiKey(read(plainSecret, "key"));
        createIfAbsent(keysSecret, Map.of("first", key.grant(settings.tenants())));
    }

    private Optional<Secret> find(String name) {
        return Optional.ofNullable(client.secrets()
                .inNamespace(settings.namespace())
                .withName(name)
                .get());
    }

    private String randomText() {
        byte[] bytes = new byte[SECRET_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private boolean createIfAbsent(String name, Map<String, String> data) {
        Map<String, String> encoded = new TreeMap<>();
        data.forEach((key, value) -> encoded.put(key, BASE64.encodeToString(value.getBytes(StandardCharsets.UTF_8))));
        Secret secret = new SecretBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(settings.namespace())
                .addToLabels("app.kubernetes.io/part-of", "sandglass")
                .endMetadata()
                .withType("Opaque")
                .withData(encoded)
                .build();
        try {
            client.resource(secret).create();
            LOG.atInfo().addKeyValue("secret", name).log("Secret created");
            return true;
        } catch (KubernetesClientException refused) {
            if (refused.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                throw refused;
            }
            LOG.atInfo().addKeyValue("secret", name).log("Secret exists and stays as it is");
            return false;
        }
    }

    private String read(String name, String key) {
        Secret secret = client.secrets()
                .inNamespace(settings.namespace())
                .withName(name)
                .require();
        String encoded = secret.getData().get(key);
        if (encoded == null) {
            throw new IllegalStateException(
                    "Secret " + name + " has no key '" + key + "'; delete it to have a new one made, or add the key");
        }
        return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    }
}
