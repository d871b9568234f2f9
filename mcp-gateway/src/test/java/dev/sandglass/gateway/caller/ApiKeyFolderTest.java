package dev.sandglass.gateway.caller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiKeyFolderTest {

    private static final Duration SOON = Duration.ofSeconds(10);

    private void write(Path where, String name, String key) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        Files.writeString(
                where.resolve(name),
                "{\"sha256\":\"%s\",\"tenants\":[\"default\",\"team\"]}"
                        .formatted(HexFormat.of().formatHex(digest)));
    }

    @Test
    void aKeyIsKnownByItsDigestAndNamedByItsFile(@TempDir Path folder) throws Exception {
        write(folder, "alice", "secret-1");

        try (ApiKeyFolder opened = ApiKeyFolder.open(folder)) {
            Caller caller = opened.keys().callerOf("secret-1").blockOptional().orElseThrow();
            assertThat(caller.name()).isEqualTo("alice");
            assertThat(caller.mayUse("team")).isTrue();
            assertThat(caller.mayUse("other")).isFalse();
            assertThat(opened.keys().named("alice").blockOptional()).contains(caller);
            assertThat(opened.keys().named("secret-1").blockOptional()).isEmpty();
            assertThat(opened.keys().nameTenant("team")).isTrue();
            assertThat(opened.keys().nameTenant("other")).isFalse();
            for (String wrong : new String[] {"secret-2", "", "secret-", "secret-11", "x".repeat(100_000)}) {
                assertThat(opened.keys().callerOf(wrong).blockOptional()).isEmpty();
            }
        }
    }

    @Test
    void aBrokenFileDisablesThatKeyOnly(@TempDir Path folder) throws Exception {
        write(folder, "alice", "secret-1");
        Files.writeString(folder.resolve("broken"), "{\"sha256\":\"12\",\"tenants\":[\"default\"]}");
        Files.writeString(folder.resolve("no-tenants"), "{\"sha256\":\"" + "0".repeat(64) + "\"}");
        Files.writeString(folder.resolve("no-json"), "hello");
        Files.write(folder.resolve("huge"), new byte[70_000]);
        Files.createDirectory(folder.resolve("..2026"));

        try (ApiKeyFolder opened = ApiKeyFolder.open(folder)) {
            assertThat(opened.keys().size()).isEqualTo(1);
        }
    }

    @Test
    void addedAndRemovedKeysCountAtOnce(@TempDir Path folder) throws Exception {
        try (ApiKeyFolder opened = ApiKeyFolder.open(folder)) {
            write(folder, "alice", "secret-1");
            await().atMost(SOON)
                    .until(() ->
                            opened.keys().callerOf("secret-1").blockOptional().isPresent());
            Files.delete(folder.resolve("alice"));
            await().atMost(SOON)
                    .until(() ->
                            opened.keys().callerOf("secret-1").blockOptional().isEmpty());
        }
    }

    /** As the kubelet does it: files are links into {@code ..data}, which is swapped as a whole. */
    @Test
    void aSwappedSecretIsReadAnew(@TempDir Path folder) throws Exception {
        Path first = Files.createDirectory(folder.resolve("..first"));
        Path second = Files.createDirectory(folder.resolve("..second"));
        write(first, "alice", "secret-1");
        write(second, "alice", "secret-2");
        Files.createSymbolicLink(folder.resolve("..data"), first.getFileName());
        Files.createSymbolicLink(folder.resolve("alice"), Path.of("..data", "alice"));

        try (ApiKeyFolder opened = ApiKeyFolder.open(folder)) {
            assertThat(opened.keys().callerOf("secret-1").blockOptional()).isPresent();
            Files.createSymbolicLink(folder.resolve("..data_tmp"), second.getFileName());
            Files.move(folder.resolve("..data_tmp"), folder.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);

            await().atMost(SOON)
                    .until(() ->
                            opened.keys().callerOf("secret-2").blockOptional().isPresent());
            assertThat(opened.keys().callerOf("secret-1").blockOptional()).isEmpty();
        }
    }

    @Test
    void aMissingFolderIsAnErrorThatNamesIt(@TempDir Path folder) {
        assertThatThrownBy(() -> ApiKeyFolder.open(folder.resolve("no")))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("no");
    }

    @Test
    void nothingPrintsADigest() {
        ApiKey key = ApiKey.of("alice", "ab".repeat(32), List.of("default"));

        assertThat(key.toString()).contains("alice").doesNotContain("abab");
    }
}
