package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class TrustedAuthoritiesTest {

    private static final char[] PASSWORD = "password".toCharArray();

    // Set by JUnit before each test.
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /** A key store with a key of that name, and its certificate as NAME.pem. */
    private Path identity(String name) throws Exception {
        Path store = folder.resolve(name + ".p12");
        String[] common = {"-keystore", store.toString(), "-storepass", "password", "-alias", name};
        keytool("-genkeypair", common, "-keyalg", "EC", "-dname", "CN=" + name, "-ext", "san=ip:127.0.0.1");
        keytool(
                "-exportcert",
                common,
                "-rfc",
                "-file",
                folder.resolve(name + ".pem").toString());
        return store;
    }

    private void keytool(String command, String[] common, String... more) throws IOException, InterruptedException {
        var words = new ArrayList<String>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        words.add(command);
        Collections.addAll(words, common);
        Collections.addAll(words, more);
        Process process = new ProcessBuilder(words)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start();
        assertThat(process.waitFor())
                .as(Files.readString(folder.resolve("keytool.log")))
                .isZero();
    }

    private static KeyStore load(Path store, char @Nullable [] password) throws Exception {
        KeyStore loaded = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(store)) {
            loaded.load(in, password);
        }
        return loaded;
    }

    private static SSLContext context(KeyStore keys, KeyStore trusted) throws Exception {
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static int statusOf(HttpsServer server, SSLContext context) throws Exception {
        URI uri = URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/");
        try (HttpClient client = HttpClient.newBuilder().sslContext(context).build()) {
            return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding())
                    .statusCode();
        }
    }

    @Tag("slow")
    @Test
    void aServerOfTheSitesAuthorityIsTrustedAndAStrangerIsNot() throws Exception {
        KeyStore server = load(identity("site"), PASSWORD);
        identity("stranger");
        Path store = folder.resolve("trusted.p12");
        TrustedAuthorities.write(folder.resolve("site.pem"), store);
        Path others = folder.resolve("others.p12");
        TrustedAuthorities.write(folder.resolve("stranger.pem"), others);
        HttpsServer https = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        https.setHttpsConfigurator(new HttpsConfigurator(context(server, server)));
        https.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(204, -1);
            }
        });
        https.start();
        try {
            assertThat(statusOf(https, context(server, load(store, null)))).isEqualTo(204);
            assertThatThrownBy(() -> statusOf(https, context(server, load(others, null))))
                    .isInstanceOf(SSLHandshakeException.class);
        } finally {
            https.stop(0);
        }
    }

    @Tag("slow")
    @Test
    void severalCertificatesAndTheRuntimesOwnAreAllInTheStore() throws Exception {
        identity("one");
        identity("two");
        Path bundle = folder.resolve("bundle.pem");
        Files.writeString(
                bundle,
                Files.readString(folder.resolve("one.pem")) + "\n" + Files.readString(folder.resolve("two.pem")));

        TrustedAuthorities.write(bundle, folder.resolve("all.p12"));

        var names = Collections.list(load(folder.resolve("all.p12"), null).aliases());
        assertThat(names).filteredOn(name -> name.startsWith("site-")).hasSize(2);
        assertThat(names).filteredOn(name -> name.startsWith("runtime-")).isNotEmpty();
    }

    @Tag("slow")
    @Test
    void theVariableOfTheProcessNamesTheFile() throws Exception {
        identity("site");
        var environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new SystemEnvironmentPropertySource(
                        "process",
                        Map.of(
                                "GATEWAY_TRUSTED_CA_FILE",
                                folder.resolve("site.pem").toString())));
        try {
            new TrustedAuthorities()
                    .onApplicationEvent(new ApplicationEnvironmentPreparedEvent(
                            new DefaultBootstrapContext(), new SpringApplication(), new String[0], environment));

            Path store = Path.of(String.valueOf(System.getProperty("javax.net.ssl.trustStore")));
            assertThat(Collections.list(load(store, null).aliases())).anyMatch(name -> name.startsWith("site-"));
            Files.delete(store);
        } finally {
            System.clearProperty("javax.net.ssl.trustStore");
            System.clearProperty("javax.net.ssl.trustStoreType");
        }
    }

    @Test
    void whatIsNoCertificateIsRefusedByName() throws Exception {
        Path text = Files.writeString(folder.resolve("text"), "not a certificate");
        Path broken = Files.writeString(
                folder.resolve("broken"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        Path large = Files.write(folder.resolve("large"), new byte[TrustedAuthorities.MAX_BYTES + 1]);

        for (Path wrong : new Path[] {text, broken, large}) {
            assertThatThrownBy(() -> TrustedAuthorities.write(wrong, folder.resolve("never")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("GATEWAY_TRUSTED_CA_FILE")
                    .hasMessageContaining(wrong.toString());
        }
        assertThat(folder.resolve("never")).doesNotExist();
    }
}
