package dev.sandglass.operator.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrustedAuthoritiesTest {

    private static final Path FOLDER = Path.of("src/test/resources/authorities");

    private static String pem(String name) throws IOException {
        return Files.readString(FOLDER.resolve(name + ".pem"));
    }

    private static List<X509Certificate> certificates(String name) throws IOException {
        return PemCertificates.parse(pem(name));
    }

    private static List<X509Certificate> in(ConfigMap map, String key) {
        return PemCertificates.parse(Objects.requireNonNull(map.getData().get(key), key));
    }

    private static KeyStore store(ConfigMap map) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        // As a Java program opens the store that a property names without a password.
        store.load(
                new ByteArrayInputStream(
                        Base64.getDecoder().decode(map.getBinaryData().get(TrustedAuthorities.STORE))),
                null);
        return store;
    }

    @Test
    void everyFileHasWhatItsReadersNeed() throws Exception {
        ConfigMap map = TrustedAuthorities.of(certificates("other"), certificates("site"))
                .desired("tenant-a");

        assertThat(map.getMetadata().getName()).isEqualTo("sandglass-trusted-ca");
        assertThat(map.getMetadata().getNamespace()).isEqualTo("tenant-a");
        assertThat(in(map, TrustedAuthorities.SITE)).isEqualTo(certificates("site"));
        assertThat(in(map, TrustedAuthorities.BUNDLE))
                .containsExactlyInAnyOrder(
                        certificates("site").getFirst(), certificates("other").getFirst());
        KeyStore store = store(map);
        List<X509Certificate> stored = new ArrayList<>();
        for (String alias : Collections.list(store.aliases())) {
            stored.add((X509Certificate) store.getCertificate(alias));
        }
        assertThat(stored)
                .containsExactlyInAnyOrder(
                        certificates("site").getFirst(), certificates("other").getFirst());
    }

    @Test
    void thePublicOnesAreThoseOfTheRuntime() throws IOException {
        ConfigMap map = TrustedAuthorities.with(pem("site")).desired("tenant-a");

        assertThat(in(map, TrustedAuthorities.BUNDLE))
                .contains(certificates("site").getFirst())
                .hasSizeGreaterThan(50);
    }

    @Test
    void theSameInputIsTheSameToTheLastByte() throws IOException {
        assertThat(TrustedAuthorities.with(pem("site")).desired("tenant-a"))
                .isEqualTo(TrustedAuthorities.with(pem("site")).desired("tenant-a"));
    }

    @Test
    void otherAuthoritiesAreNotThese() throws IOException {
        TrustedAuthorities mine = TrustedAuthorities.with(pem("site"));
        ConfigMap others = TrustedAuthorities.with(pem("other")).desired("tenant-a");
        ConfigMap foreign = mine.desired("tenant-a");
        foreign.getMetadata().setAnnotations(null);

        assertThat(mine.areIn(mine.desired("tenant-b"))).isTrue();
        assertThat(mine.areIn(others)).isFalse();
        assertThat(mine.areIn(foreign)).isFalse();
    }

    @Test
    void aCertificateThatIsPublicTooStandsButOnce() throws IOException {
        ConfigMap map = TrustedAuthorities.of(certificates("site"), certificates("site"))
                .desired("tenant-a");

        assertThat(in(map, TrustedAuthorities.BUNDLE)).hasSize(1);
    }

    @Tag("slow")
    @Test
    void aConfigMapMustHaveRoomForThem(@TempDir Path folder) throws Exception {
        // Twice in PEM, which has four bytes for three, and once as it is.
        assertThat(TrustedAuthorities.of(List.of(), ofSize(270_000, folder)).desired("tenant-a"))
                .isNotNull();
        assertThatThrownBy(() -> TrustedAuthorities.of(List.of(), ofSize(300_000, folder)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bytes of a ConfigMap, which has 1048576");
    }

    /** A certificate with so many bytes in extensions that mean nothing. */
    private static List<X509Certificate> ofSize(int bytes, Path folder) throws Exception {
        Path store = folder.resolve(bytes + ".p12");
        List<String> make = new ArrayList<>(List.of(keytool(), "-genkeypair", "-keyalg", "EC", "-dname", "CN=large"));
        for (int i = 0; i < 6; i++) {
            make.addAll(List.of("-ext", "1.2.3." + (4 + i) + "=" + "00".repeat(bytes / 6)));
        }
        Path pem = folder.resolve(bytes + ".pem");
        run(make, store);
        run(List.of(keytool(), "-exportcert", "-rfc", "-file", pem.toString()), store);
        return PemCertificates.parse(Files.readString(pem));
    }

    private static String keytool() {
        return Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    }

    private static void run(List<String> words, Path store) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(words);
        all.addAll(List.of("-alias", "large", "-keystore", store.toString(), "-storepass", "password"));
        Path log = Path.of(store + ".log");
        Process process = new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertThat(process.waitFor()).as(Files.readString(log)).isZero();
    }
}
