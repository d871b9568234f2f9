package dev.sandglass.operator.settings;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Certificates in PEM. What stands between them is taken for comments. */
final class PemCertificates {

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,64})-----([^-]*)(-----END \\1-----)?");
    private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

    private PemCertificates() {}

    /**
     * Reads them.
     *
     * @return at least one
     * @throws IllegalArgumentException saying which is wrong; nothing of it is repeated, as it may be a key
     */
    static List<X509Certificate> parse(String pem) {
        List<X509Certificate> all = new ArrayList<>();
        Matcher block = BLOCK.matcher(pem);
        while (block.find()) {
            String which = "block " + (all.size() + 1) + " of the PEM";
            if (!"CERTIFICATE".equals(block.group(1))) {
                throw new IllegalArgumentException(which + " is a " + block.group(1) + "; give certificates only");
            }
            if (block.group(3) == null) {
                throw new IllegalArgumentException(which + " has no -----END CERTIFICATE----- where its text ends");
            }
            all.add(certificate(block.group(2), which));
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no certificate in PEM; one begins with" + " -----BEGIN CERTIFICATE-----");
        }
        return List.copyOf(all);
    }

    private static X509Certificate certificate(String base64, String which) {
        try {
            byte[] bytes = Base64.getMimeDecoder().decode(base64);
            ByteArrayInputStream in = new ByteArrayInputStream(bytes);
            X509Certificate read =
                    (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
            if (in.available() > 0) {
                throw new CertificateException("Something follows it");
            }
            return read;
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IllegalArgumentException(which + " is not a certificate that can be read", e);
        }
    }

    /** Writes them, one after the other. */
    static String text(List<X509Certificate> certificates) {
        return certificates.stream().map(PemCertificates::text).collect(Collectors.joining());
    }

    private static String text(X509Certificate certificate) {
        try {
            return "-----BEGIN CERTIFICATE-----\n" + LINES.encodeToString(certificate.getEncoded())
                    + "\n-----END CERTIFICATE-----\n";
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("A certificate that was read cannot be written", e);
        }
    }
}
