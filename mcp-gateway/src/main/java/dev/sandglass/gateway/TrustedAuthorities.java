package dev.sandglass.gateway;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;

/**
 * Certificate authorities of the site, besides those that the Java runtime trusts. They come as a PEM file, which the
 * virtual machine cannot use as its trust store; so a store with both is written and named to it, before anything opens
 * a connection. Whoever makes a TLS connection the usual way then trusts them.
 */
final class TrustedAuthorities implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

    /** A bundle of all public authorities has a fifth of it. */
    static final int MAX_BYTES = 1 << 20;

    private static final String VARIABLE = "GATEWAY_TRUSTED_CA_FILE";

    /**
     * Trusts what {@code gateway.trusted-ca-file} ({@code GATEWAY_TRUSTED_CA_FILE}) names, if it is set.
     *
     * @throws IllegalArgumentException naming the variable and what is wrong with its file
     */
    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        String file = event.getEnvironment().getProperty("gateway.trusted-ca-file", "");
        if (file.isBlank()) {
            return;
        }
        try {
            Path store = Files.createTempFile("trusted-authorities", ".p12");
            write(Path.of(file), store);
            System.setProperty("javax.net.ssl.trustStore", store.toString());
            System.setProperty("javax.net.ssl.trustStoreType", "PKCS12");
        } catch (IOException e) {
            throw new IllegalArgumentException(VARIABLE + ": " + file + " cannot be read", e);
        }
    }

    /** Writes a store, without a password since it holds no secret, with the runtime's authorities and the file's. */
    static void write(Path pem, Path store) throws IOException {
        try {
            KeyStore all = KeyStore.getInstance("PKCS12");
            all.load(null, null);
            int number = 0;
            for (X509Certificate known : runtimes()) {
                all.setCertificateEntry("runtime-" + number++, known);
            }
            for (Certificate further : read(pem)) {
                all.setCertificateEntry("site-" + number++, further);
            }
            try (OutputStream out = Files.newOutputStream(store)) {
                all.store(out, null);
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("The trust store cannot be made", e);
        }
    }

    private static Collection<? extends Certificate> read(Path pem) throws IOException {
        byte[] text;
        try (InputStream in = Files.newInputStream(pem)) {
            text = in.readNBytes(MAX_BYTES + 1);
        }
        if (text.length > MAX_BYTES) {
            throw new IllegalArgumentException(VARIABLE + ": " + pem + " has more than " + MAX_BYTES + " bytes");
        }
        try {
            Collection<? extends Certificate> certificates =
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(text));
            if (certificates.isEmpty()) {
                throw new IllegalArgumentException(VARIABLE + ": " + pem + " has no certificate; give PEM");
            }
            return certificates;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(VARIABLE + ": " + pem + " must hold certificates in PEM only", e);
        }
    }

    private static X509Certificate[] runtimes() throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init((KeyStore) null);
        return Arrays.stream(factory.getTrustManagers())
                .filter(X509TrustManager.class::isInstance)
                .map(X509TrustManager.class::cast)
                .findFirst()
                .map(X509TrustManager::getAcceptedIssuers)
                .orElse(new X509Certificate[0]);
    }
}
