package dev.sandglass.operator.settings;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Which certificate authorities sandboxes trust if the site adds some of its own: those and the public ones, together in
 * one ConfigMap of each tenant's namespace. They are joined here and not in the pod, so that every image gets the same, a
 * start has nothing to make, and the code can change none of it; and because only a Java program can write Java's store.
 */
public final class TrustedAuthorities {

    /** Name of the ConfigMap. */
    public static final String NAME = "sandglass-trusted-ca";

    /** Most bytes that a ConfigMap holds. */
    public static final int MAX_BYTES = 1 << 20;

    /** Key of everything in PEM, for clients that take one file instead of their own. */
    public static final String BUNDLE = "bundle.crt";

    /** Key of the site's alone, for clients that add a file to their own. */
    public static final String SITE = "site.crt";

    /** Key of everything in a store of Java's, without a password. */
    public static final String STORE = "bundle.p12";

    private final Map<String, byte[]> files;
    private final String digest;

    private TrustedAuthorities(Map<String, byte[]> files, String digest) {
        this.files = files;
        this.digest = digest;
    }

    /**
     * The site's authorities and those of this Java runtime, which has Debian's.
     *
     * @param pem the site's certificates
     * @throws IllegalArgumentException saying what is wrong with them
     */
    public static TrustedAuthorities with(String pem) {
        return of(publicOnes(), PemCertificates.parse(pem));
    }

    static TrustedAuthorities of(List<X509Certificate> publicOnes, List<X509Certificate> site) {
        List<X509Certificate> all = Stream.concat(site.stream(), publicOnes.stream())
                .distinct()
                // A set has no order, and what is at rest must not look changed.
                .sorted(Comparator.comparing((X509Certificate one) ->
                                one.getSubjectX500Principal().getName())
                        .thenComparing(TrustedAuthorities::encoded, Arrays::compare))
                .toList();
        byte[] bundle = PemCertificates.text(all).getBytes(StandardCharsets.US_ASCII);
        byte[] added = PemCertificates.text(site).getBytes(StandardCharsets.US_ASCII);
        byte[] store = store(all);
        int size = bundle.length + added.length + store.length;
        if (size > MAX_BYTES) {
            throw new IllegalArgumentException("with the public authorities the certificates need " + size
                    + " bytes of a ConfigMap, which has " + MAX_BYTES + "; give fewer");
        }
        return new TrustedAuthorities(Map.of(BUNDLE, bundle, SITE, added, STORE, store), digest(bundle, added));
    }

    /** The ConfigMap of one namespace. */
    public ConfigMap desired(String namespace) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(namespace)
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .addToAnnotations(SandboxLabels.TRUSTED_CA, digest)
                .endMetadata()
                .addToData(BUNDLE, text(BUNDLE))
                .addToData(SITE, text(SITE))
                .addToBinaryData(STORE, Base64.getEncoder().encodeToString(file(STORE)))
                .build();
    }

    /** Whether that ConfigMap was made of these. Told by its digest alone, so that caches can do without the content. */
    public boolean areIn(ConfigMap present) {
        Map<String, String> annotations = present.getMetadata().getAnnotations();
        return annotations != null && digest.equals(annotations.get(SandboxLabels.TRUSTED_CA));
    }

    private String text(String key) {
        return new String(file(key), StandardCharsets.US_ASCII);
    }

    private byte[] file(String key) {
        return Objects.requireNonNull(files.get(key), key);
    }

    private static byte[] store(List<X509Certificate> all) {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            for (int i = 0; i < all.size(); i++) {
                store.setCertificateEntry("authority-" + i, all.get(i));
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            // Without a password nothing is encrypted: there is no secret in it, and its readers need none.
            store.store(bytes, null);
            return bytes.toByteArray();
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("The store of authorities cannot be made", e);
        }
    }

    private static List<X509Certificate> publicOnes() {
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            return Arrays.stream(factory.getTrustManagers())
                    .filter(X509TrustManager.class::isInstance)
                    .flatMap(manager -> Arrays.stream(((X509TrustManager) manager).getAcceptedIssuers()))
                    .collect(Collectors.toList());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("This Java runtime does not say which authorities it trusts", e);
        }
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("A certificate that was read cannot be written", e);
        }
    }

    private static String digest(byte[]... parts) {
        try {
            MessageDigest all = MessageDigest.getInstance("SHA-256");
            for (byte[] part : parts) {
                all.update(part);
                // Or the same bytes, cut elsewhere, would be the same.
                all.update((byte) 0);
            }
            return HexFormat.of().formatHex(all.digest(), 0, 16);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return "TrustedAuthorities[" + digest + "]";
    }
}
