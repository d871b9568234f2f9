package dev.sandglass.api.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Credentials for the egress proxy: one for each sandbox, the same wherever they are made. */
class EgressSecretTest {

    private static final String SECRET = "0123456789abcdef0123456789abcdef";

    private static EgressSecret secret(String text) {
        return new EgressSecret(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void oneForEachSandbox() {
        String password = secret(SECRET).passwordOf("uid-1");
        assertThat(password).matches("[A-Za-z0-9_-]{43}");
        assertThat(secret(SECRET).isPasswordOf("uid-1", password)).isTrue();
        assertThat(secret(SECRET).isPasswordOf("uid-2", password)).isFalse();
        assertThat(secret(SECRET).isPasswordOf("uid-1", password + "x")).isFalse();
        assertThat(secret(SECRET).isPasswordOf("uid-1", "")).isFalse();
        assertThat(secret(SECRET + "x").isPasswordOf("uid-1", password)).isFalse();
        assertThat(secret(SECRET)).hasToString("EgressSecret[hidden]");
    }

    @Test
    void theTokenForDenialsIsNobodysPassword() {
        String token = secret(SECRET).denialsToken();
        assertThat(token).matches("[A-Za-z0-9_-]{43}");
        assertThat(secret(SECRET).isDenialsToken(token)).isTrue();
        assertThat(secret(SECRET).isDenialsToken(token + "x")).isFalse();
        assertThat(secret(SECRET).isDenialsToken("")).isFalse();
        assertThat(secret(SECRET).isDenialsToken(secret(SECRET).passwordOf(""))).isFalse();
        assertThat(secret(SECRET + "x").isDenialsToken(token)).isFalse();
    }

    @Test
    void theDigestTellsSecretsApartAndIsNoCredential() {
        String digest = secret(SECRET).digest();
        assertThat(digest)
                .isEqualTo(secret(SECRET).digest())
                .isNotEqualTo(secret(SECRET + "x").digest())
                .isNotEqualTo(secret(SECRET).passwordOf(""));
        assertThat(secret(SECRET).isDenialsToken(digest)).isFalse();
    }

    @Test
    void aLineEndIsNotPartOfIt(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), SECRET + "\r\n");
        assertThat(EgressSecret.read(file).passwordOf("uid"))
                .isEqualTo(secret(SECRET).passwordOf("uid"));
    }

    @Test
    void shortOnesAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> secret(SECRET.substring(1)))
                .withMessageContaining("has 31 bytes; at least 32");
    }
}
