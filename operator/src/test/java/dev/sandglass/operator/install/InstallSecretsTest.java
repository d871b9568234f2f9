package dev.sandglass.operator.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class InstallSecretsTest {
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "INSTALL_NAMESPACE", "sandglass-system",
            "INSTALL_LINK_SECRET", "sandglass-link",
            "INSTALL_EGRESS_SECRET", "sandglass-egress",
            "INSTALL_API_KEY_SECRET", "sandglass-api-keys",
            "INSTALL_FIRST_KEY_SECRET", "sandglass-first-api-key",
            "INSTALL_API_KEY_TENANTS", "default, research");

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    @Test
    void makesTheSecretsAndAKeyThatItsGrantMatches() {
        run();

        String token = value("sandglass-first-api-key", "key");
        String link = value("sandglass-link", "linkSecret");
        assertThat(link).hasSizeGreaterThanOrEqualTo(64);
        assertThat(value("sandglass-egress", "egressSecret"))
                .hasSizeGreaterThanOrEqualTo(64)
                .isNotEqualTo(link);
        assertThat(token).startsWith("sgk_").hasSize(47);
        assertThat(value("sandglass-api-keys", "first"))
                .isEqualTo(new ApiKey(token).grant(List.of("default", "research")))
                .contains("\"tenants\":[\"default\",\"research\"]")
                .doesNotContain(token);
    }

    @Tag("slow")
    @Test
    void aSecondRunChangesNothing() {
        run();
        String link = value("sandglass-link", "linkSecret");
        String egress = value("sandglass-egress", "egressSecret");
        String key = value("sandglass-first-api-key", "key");

        run();

        assertThat(value("sandglass-link", "linkSecret")).isEqualTo(link);
        assertThat(value("sandglass-egress", "egressSecret")).isEqualTo(egress);
        assertThat(value("sandglass-first-api-key", "key")).isEqualTo(key);
    }

    @Tag("slow")
    @Test
    void aRunAfterOneThatWasCutOffGrantsTheKeyThatIsThere() {
        run();
        String token = value("sandglass-first-api-key", "key");
        client.secrets()
                .inNamespace("sandglass-system")
                .withName("sandglass-api-keys")
                .delete();

        run();

        assertThat(value("sandglass-api-keys", "first"))
                .isEqualTo(new ApiKey(token).grant(List.of("default", "research")));
    }

    @Tag("slow")
    @Test
    void aFirstKeyThatWasReadAndDeletedDoesNotComeBack() {
        run();
        client.secrets()
                .inNamespace("sandglass-system")
                .withName("sandglass-first-api-key")
                .delete();

        run();

        assertThat(client.secrets()
                        .inNamespace("sandglass-system")
                        .withName("sandglass-first-api-key")
                        .get())
                .isNull();
    }

    @Tag("slow")
    @Test
    void existingSecretsNeedNoJob() {
        new InstallSecrets(client, new SecureRandom(), InstallSettings.from(Map.of("INSTALL_NAMESPACE", "elsewhere")))
                .run();

        assertThat(client.secrets().inNamespace("elsewhere").list().getItems()).isEmpty();
    }

    @Tag("slow")
    @Test
    void saysWhichSettingIsMissing() {
        assertThatThrownBy(() -> InstallSettings.from(Map.of())).hasMessageContaining("INSTALL_NAMESPACE");
    }

    @Tag("slow")
    @Test
    void aKeyDoesNotPrintItself() {
        ApiKey key = ApiKey.random(new SecureRandom());
        assertThat(key.toString()).doesNotContain(key.token());
    }

    private void run() {
        new InstallSecrets(client, new SecureRandom(), InstallSettings.from(ENVIRONMENT)).run();
    }

    private String value(String secret, String key) {
        Secret found = client.secrets()
                .inNamespace("sandglass-system")
                .withName(secret)
                .require();
        return new String(Base64.getDecoder().decode(found.getData().get(key)), StandardCharsets.UTF_8);
    }
}
